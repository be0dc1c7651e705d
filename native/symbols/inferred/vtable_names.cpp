#include "symbols/inferred/vtable_names.h"

#include <elf.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "symbols/inferred/type_infos.h"
#include "symbols/starts/data_words.h"
#include "symbols/starts/object_starts.h"
#include "symbols/table/code_areas.h"
#include "symbols/table/demangler.h"

namespace whocall {
namespace {

constexpr unsigned kMostVirtual = 4096;
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

// All classes that `descendant` descends from, over any number of steps.
std::unordered_set<Address> ancestors_of(Address descendant, const TypeInfos& classes) {
  std::unordered_set<Address> seen;
  std::vector<Address> pending = {descendant};
  while (!pending.empty()) {
    const auto found = classes.find(pending.back());
    pending.pop_back();
    if (found != classes.end()) {
      for (const Address base : found->second.bases) {
        if (seen.insert(base).second) {
          pending.push_back(base);
        }
      }
    }
  }
  return seen;
}

class TableReader {
 public:
  TableReader(const ElfFile& file, const DataWords& words, const TypeInfos& classes)
      : file_(file),
        words_(words),
        classes_(classes),
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
  void read_behind_zeros(const std::vector<Table>& tables, std::vector<FilledSlot>& slots) const {
    std::unordered_map<Address, const Table*> broken_off;  // by class
    for (const Table& table : tables) {
      if (words_.is_zero(place_of(table, table.end))) {
        broken_off.emplace(table.class_info, &table);
      }
    }
    std::size_t asked = 0;
    for (const Table& heir : tables) {
      for (const Address ancestor : ancestors_of(heir.class_info, classes_)) {
        check_interrupt_at(asked++, kManyEntries);
        if (const auto table = broken_off.find(ancestor); table != broken_off.end()) {
          read_behind_zero(*table->second, heir, slots);
        }
      }
    }
  }

  void read_behind_zero(const Table& table, const Table& heir,
                        std::vector<FilledSlot>& slots) const {
    const unsigned end = std::min(heir.end, slots_before_next_object(table.slots));
    for (unsigned number = table.end + 1; number < end; ++number) {
      const auto function = words_.pointer_at(place_of(table, number));
      if (function && is_code(*function) && function == words_.pointer_at(place_of(heir, number))) {
        slots.push_back({*function, {table.class_info, number}});
      }
    }
  }

  [[nodiscard]] Address place_of(const Table& table, unsigned number) const {
    return table.slots + std::uint64_t{number} * word_;
  }

  // Folklore. Situation: no word marks the end of a table, and other constants with code pointers
  // may stand behind it. Example: the invoker and the manager of a std::function, which gcc loads
  // from a pair of words. Remedy: whoever names an address behind the first slot names another
  // object, and there the table ends at the latest.
  [[nodiscard]] unsigned slots_before_next_object(Address begin) const {
    const auto next = std::ranges::upper_bound(objects_, begin);
    const std::uint64_t room = next == objects_.end() ? kMostVirtual : (*next - begin) / word_;
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
  std::vector<AddressRange> code_;
  unsigned word_;
  std::vector<Address> objects_{};  // ascending
};

// The slot in the class from which the others inherited the function; null when it is not one.
const Slot* original_of(std::span<const FilledSlot> slots, const TypeInfos& classes) {
  if (slots.size() == 1) {
    return &slots.front().slot;
  }
  const Slot* original = nullptr;
  for (const auto& [function, slot] : slots) {
    const auto ancestors = ancestors_of(slot.class_info, classes);
    const bool inherited = std::ranges::any_of(
        slots, [&](const FilledSlot& other) { return ancestors.contains(other.slot.class_info); });
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
  const std::vector<FilledSlot> all = TableReader(evidence.file, words, classes).run(evidence.arch);
  for (std::span<const FilledSlot> rest = all; !rest.empty();) {
    const Address function = rest.front().function;
    const auto end = std::ranges::find_if(
        rest, [&](const FilledSlot& each) { return each.function != function; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    if (const Slot* slot = original_of(rest.first(count), classes)) {
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
