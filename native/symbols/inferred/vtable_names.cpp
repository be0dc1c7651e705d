#include "symbols/inferred/vtable_names.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "symbols/discovery/data_words.h"
#include "symbols/discovery/object_starts.h"
#include "symbols/inferred/type_infos.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/demangler.h"

namespace whocall {
namespace {

constexpr unsigned kMostVirtual = 4096;
constexpr std::size_t kMostBehindZeros = std::size_t{1} << 22U;  // words of tables, in all
constexpr std::string_view kSlot = "::[slot ";

struct Slot {
  Address class_info = 0;
  unsigned number = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

using TypeInfos = std::unordered_map<Address, TypeInfo>;

struct FilledSlot {
  Address function = 0;
  Slot slot{};
};

// Who descends from whom, over any number of steps.
class Descent {
 public:
  explicit Descent(const TypeInfos& classes) : classes_(classes) {}

  // All classes that `descendant` descends from, in no order; none once more were found than a true
  // program has in all. In a made-up one each class may descend from all before it.
  const std::vector<Address>& ancestors_of(Address descendant) {
    const auto [known, fresh] = known_.try_emplace(descendant);
    if (fresh && left_ > 0) {
      known->second = find(descendant);
      left_ -= std::min(left_, known->second.size());
    }
    return known->second;
  }

 private:
  [[nodiscard]] std::vector<Address> find(Address descendant) const {
    std::vector<Address> found;
    std::unordered_set<Address> seen;
    for (std::size_t next = 0; next <= found.size(); ++next) {
      check_interrupt_at(next, kManyEntries);
      const auto at = classes_.find(next == 0 ? descendant : found[next - 1]);
      if (at == classes_.end()) {
        continue;
      }
      std::ranges::copy_if(at->second.bases, std::back_inserter(found),
                           [&](Address base) { return seen.insert(base).second; });
    }
    return found;
  }

  const TypeInfos& classes_;
  std::unordered_map<Address, std::vector<Address>> known_{};
  std::size_t left_ = std::size_t{1} << 22U;  // ancestors
};

class TableReader {
 public:
  TableReader(const ElfFile& file, const DataWords& words, const TypeInfos& classes,
              Descent& descent)
      : file_(file),
        words_(words),
        classes_(classes),
        descent_(descent),
        code_(code_areas(file)),
        word_(file.pointer_size()) {}

  // Itanium C++ ABI, 2.5.2 "Virtual Table Components": the offset to the top, which is 0 in primary
  // tables, the type info, and then the functions. By function.
  std::vector<FilledSlot> run(const Architecture& arch) {
    std::vector<Table> tables;
    AddressRange all{~Address{0}, 0};
    for (const auto& [where, target] : words_.pointers()) {
      if (!is_code(target) && classes_.contains(target) && words_.is_zero(where - word_) &&
          may_hold_tables(where)) {
        const Address begin = where + word_;
        tables.push_back({.slots = begin, .class_info = target});
        all = {std::min(all.begin, begin), std::max(all.end, begin + kMostVirtual * word_)};
      }
    }
    if (!tables.empty()) {
      objects_ = object_starts(file_, arch, words_, all);
    }
    std::vector<FilledSlot> slots;
    for (Table& table : tables) {
      read_slots(table, slots);
    }
    read_behind_zeros(tables, slots);
    sort_by_address(slots, [](const FilledSlot& each) { return each.function; });
    return slots;
  }

 private:
  struct Table {
    Address slots = 0;  // the first
    Address class_info = 0;
    unsigned end = 0;  // number of the first slot that is none
  };

  void read_slots(Table& table, std::vector<FilledSlot>& slots) const {
    const unsigned first = lacks_destructors(table.slots) ? 2 : 0;
    const unsigned end = slots_before_next_object(table.slots);
    for (table.end = first; table.end < end; ++table.end) {
      const Address where = place_of(table, table.end);
      const auto function = words_.pointer_at(where);
      if (function && is_code(*function)) {
        slots.push_back({*function, {table.class_info, table.end}});
      } else if (function || !is_gap(where)) {
        return;
      }
    }
  }

  // Folklore. Situation: in static programs that never call __cxa_pure_virtual a pure virtual
  // function is 0, as the word before the next table is. Example: std::error_category, whose
  // equivalent() stands behind three of them. Remedy: behind a 0 the table goes on with what an
  // heir's has in the same slot.
  void read_behind_zeros(const std::vector<Table>& tables, std::vector<FilledSlot>& slots) {
    std::unordered_map<Address, const Table*> broken_off;  // by class
    for (const Table& table : tables) {
      if (words_.is_zero(place_of(table, table.end))) {
        broken_off.emplace(table.class_info, &table);
      }
    }
    std::size_t read = 0;
    for (const Table& heir : tables) {
      for (const Address ancestor : descent_.ancestors_of(heir.class_info)) {
        const auto table = broken_off.find(ancestor);
        if (table != broken_off.end() && read < kMostBehindZeros) {
          read += read_behind_zero(*table->second, heir, slots);
        }
      }
    }
  }

  // How many words were looked at: at the latest those up to the next table, which begins with its
  // type info.
  unsigned read_behind_zero(const Table& table, const Table& heir,
                            std::vector<FilledSlot>& slots) const {
    const unsigned end = std::min(heir.end, slots_before_next_object(table.slots));
    unsigned number = table.end + 1;
    for (; number < end; ++number) {
      const auto function = words_.pointer_at(place_of(table, number));
      if (function && classes_.contains(*function)) {
        break;
      }
      if (function && is_code(*function) && function == words_.pointer_at(place_of(heir, number))) {
        slots.push_back({*function, {table.class_info, number}});
      }
    }
    return number - table.end;
  }

  [[nodiscard]] Address place_of(const Table& table, unsigned number) const {
    return table.slots + std::uint64_t{number} * word_;
  }

  // Folklore. Situation: no word marks the end of a table, and other words with code pointers may
  // stand behind it. Example: the invoker and the manager of a std::function, which gcc loads from
  // a pair of words; or the array of initializers, where the table is the last one of its section.
  // Remedy: whoever names an address behind the first slot names another object, and there the
  // table ends at the latest, as it does with its section.
  [[nodiscard]] unsigned slots_before_next_object(Address begin) const {
    const auto next = std::ranges::upper_bound(objects_, begin);
    std::uint64_t room = next == objects_.end() ? kMostVirtual : (*next - begin) / word_;
    if (const ElfSection* section = file_.section_at(begin)) {
      room = std::min(room, (section->address + section->size - begin) / word_);
    }
    return static_cast<unsigned>(std::min<std::uint64_t>(room, kMostVirtual));
  }

  // Folklore. Situation: the two destructors of an abstract class are 0 where they come first; but
  // lists of type infos end with a 0 as well, and a function pointer may stand behind that.
  // Example: pybind11's lists of argument types. Remedy: both are 0, or it is no table.
  [[nodiscard]] bool lacks_destructors(Address begin) const {
    return words_.is_zero(begin) && words_.is_zero(begin + word_);
  }

  // A function of another file, or a pure virtual one; a 0 begins the next table.
  [[nodiscard]] bool is_gap(Address where) const {
    const std::string_view bound = words_.import_at(where);
    return !bound.empty() && !bound.starts_with("_ZT");
  }

  // Virtual tables are constant once the loader has relocated them. In the GOT, and among the words
  // that exception tables refer to, a type info may stand behind a 0 and before functions as well.
  [[nodiscard]] bool may_hold_tables(Address where) const {
    const ElfSection* section = file_.section_at(where);
    return section != nullptr &&
           ((section->flags & SHF_WRITE) == 0 || section->name.starts_with(".data.rel.ro"));
  }

  [[nodiscard]] bool is_code(Address address) const {
    return std::ranges::any_of(code_,
                               [&](const AddressRange& area) { return area.contains(address); });
  }

  const ElfFile& file_;
  const DataWords& words_;
  const TypeInfos& classes_;
  Descent& descent_;
  std::vector<AddressRange> code_;
  unsigned word_;
  std::vector<Address> objects_{};  // ascending
};

// The slot in the class from which the others inherited the function; null when it is not one.
const Slot* original_of(std::span<const FilledSlot> slots, Descent& descent) {
  if (slots.size() == 1) {
    return &slots.front().slot;
  }
  std::unordered_set<Address> holders;
  for (const FilledSlot& each : slots) {
    holders.insert(each.slot.class_info);
  }
  const Slot* original = nullptr;
  for (const auto& [function, slot] : slots) {
    const bool inherited =
        std::ranges::any_of(descent.ancestors_of(slot.class_info),
                            [&](Address ancestor) { return holders.contains(ancestor); });
    if (inherited || (original != nullptr && *original == slot)) {
      continue;
    }
    if (original != nullptr) {
      return nullptr;
    }
    original = &slot;
  }
  return original;
}

// The class as its author wrote it; empty when the demangler does not take the name.
std::string class_name(std::string_view mangled) {
  constexpr std::string_view kPrefix = "typeinfo name for ";
  const std::string text = demangle("_ZTS" + std::string(mangled));
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : std::string();
}

}  // namespace

void infer_vtable_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  const DataWords words(evidence.file);
  const TypeInfos classes = type_infos(evidence.file, words);
  if (classes.empty()) {
    return;
  }
  Descent descent(classes);
  const std::vector<FilledSlot> all =
      TableReader(evidence.file, words, classes, descent).run(evidence.arch);
  for (std::span<const FilledSlot> rest = all; !rest.empty();) {
    const Address function = rest.front().function;
    const auto end = std::ranges::find_if(
        rest, [&](const FilledSlot& each) { return each.function != function; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    if (const Slot* slot = original_of(rest.first(count), descent)) {
      std::string name(classes.at(slot->class_info).name);
      name.append(kSlot).append(std::to_string(slot->number)).append("]");
      names.push_back({function, std::move(name), NameSource::vtable});
    }
    rest = rest.subspan(count);
  }
}

std::string spell_vtable_name(std::string_view name) {
  const std::size_t at = name.rfind(kSlot);
  const std::string owner = class_name(name.substr(0, at));
  return at == std::string_view::npos || owner.empty() ? std::string()
                                                       : owner + std::string(name.substr(at));
}

}  // namespace whocall
