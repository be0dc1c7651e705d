#include "symbols/discovery/code_pointers.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/instruction.h"
#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "object/elf_decoder.h"
#include "object/elf_dynamic.h"
#include "object/elf_imports.h"
#include "object/range_index.h"

namespace whocall {
namespace {

// No switch has as many cases; what looks like a longer table is none.
constexpr std::uint64_t kMostCases = 4096;

void sort_distinct(std::vector<Address>& addresses) {
  sort_by_address(addresses, [](Address address) { return address; });
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

// Init and fini arrays, by section and by the dynamic table.
std::vector<AddressRange> initializer_arrays(const ElfFile& file, const ElfDynamic& dynamic) {
  std::vector<AddressRange> arrays;
  for (const ElfSection& section : file.sections()) {
    if (section.type == SHT_INIT_ARRAY || section.type == SHT_FINI_ARRAY ||
        section.type == SHT_PREINIT_ARRAY) {
      arrays.push_back({section.address, end_of(section.address, section.size)});
    }
  }
  constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 3> kTags = {
      {{DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
       {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
       {DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ}}};
  for (const auto& [at, size] : kTags) {
    const auto begin = dynamic.value(at);
    const auto bytes = dynamic.value(size);
    if (begin && bytes) {
      arrays.push_back({*begin, end_of(*begin, *bytes)});
    }
  }
  return arrays;
}

// Addresses that one function could hold.
class Neighbourhood {
 public:
  // Whether it can hold this one too; it grows by it.
  bool takes(Address target) {
    const Address low = std::min(lowest_, target);
    const Address high = std::max(highest_, target);
    if (high - low > kLargest) {
      return false;
    }
    lowest_ = low;
    highest_ = high;
    return true;
  }

 private:
  static constexpr Address kLargest = 1U << 16U;
  Address lowest_ = ~Address{0};
  Address highest_ = 0;
};

}  // namespace

CodePointers::CodePointers(const ElfFile& file, const Architecture& arch,
                           const std::vector<AddressRange>& areas, std::vector<Address> tables)
    : file_(file), arch_(arch), areas_(areas), decoder_(decoder_for(file, arch)) {
  read_initializers();
  read_jump_tables();
  read_relative_tables(std::move(tables));
  if (!arch.linkage.switches_count_from.empty()) {
    read_tables_relative_to_got();
  }
  for_each_relative_pointer(file, [&, count = std::size_t{0}](Address where, Address word) mutable {
    check_interrupt_at(count++, kManyEntries);
    const Address target = arch_.code_address(word);
    if (is_initializer_slot(where) && area_of(target) != nullptr) {
      initializers_.push_back(target);
    } else {
      consider(where, word);
    }
  });
  // Files at fixed addresses need no relocations: there the words themselves speak.
  if (file.type() == ET_EXEC) {
    read_words();
  }
  sort_out_labels();
}

CodePointers::~CodePointers() = default;

const AddressRange* CodePointers::area_of(Address address) const {
  const auto area = std::ranges::find_if(
      areas_, [&](const AddressRange& candidate) { return candidate.contains(address); });
  return area == areas_.end() ? nullptr : &*area;
}

bool CodePointers::is_initializer_slot(Address where) const {
  return std::ranges::any_of(initializer_arrays_,
                             [&](const AddressRange& array) { return array.contains(where); });
}

void CodePointers::read_initializers() {
  const ElfDynamic dynamic(file_);
  initializer_arrays_ = initializer_arrays(file_, dynamic);
  for (const std::uint64_t tag : {DT_INIT, DT_FINI}) {
    if (const auto function = dynamic.value(tag); function && area_of(*function) != nullptr) {
      initializers_.push_back(*function);
    }
  }
  for (const std::string_view name : {".init", ".fini"}) {
    if (const ElfSection* section = file_.section(name); section != nullptr && section->size != 0) {
      initializers_.push_back(section->address);
    }
  }
  for (const AddressRange& array : initializer_arrays_) {
    const ByteView words = file_.at(array.begin);
    const std::uint64_t size = std::min<std::uint64_t>(array.size(), words.size());
    for (std::uint64_t at = 0; at + arch_.abi.pointer_size <= size; at += arch_.abi.pointer_size) {
      const Address word =
          arch_.code_address(words.read_unsigned(at, arch_.abi.pointer_size).value_or(0));
      if (area_of(word) != nullptr) {
        initializers_.push_back(word);
      }
    }
  }
}

void CodePointers::consider(Address where, Address word) {
  const Address target = arch_.code_address(word);
  if (area_of(target) != nullptr && !cases_.contains(target)) {
    pointers_.push_back({where, target});
  }
}

// Folklore. Situation: data point to labels too. Example: the interpreter loop of Python and the
// format characters of printf keep arrays of the places that `goto *` goes to. Remedy: many words
// side by side that point into one neighbourhood, most of them to places where no compiler begins
// a function, are no functions. Where the compiler knew from a profile which labels are hardly ever
// reached (Debian 13's Python), those lie in the cold part, so there are two neighbourhoods.
void CodePointers::sort_out_labels() {
  constexpr std::ptrdiff_t kMany = 8;
  std::ranges::sort(pointers_, {}, &Pointer::where);
  for (auto first = pointers_.begin(); first != pointers_.end();) {
    Neighbourhood hot;
    Neighbourhood cold;
    std::ptrdiff_t labels = 0;
    auto last = first;
    for (; last != pointers_.end(); ++last) {
      const bool adjoins =
          last == first || last->where - std::prev(last)->where <= arch_.abi.pointer_size;
      if (!adjoins || (!hot.takes(last->target) && !cold.takes(last->target))) {
        break;
      }
      labels += is_where_functions_begin(last->target) ? 0 : 1;
    }
    if (last - first >= kMany && 2 * labels > last - first) {
      std::for_each(first, last, [&](const Pointer& label) { cases_.insert(label.target); });
    }
    first = last;
  }
  for (const Pointer& pointer : pointers_) {
    if (!cases_.contains(pointer.target)) {
      functions_.push_back(pointer.target);
    }
  }
}

// By the alignment; where compilers hardly align functions, by the code there.
//
// Folklore. Situation: a compiler that was asked for small code, or for none of its optimizations,
// aligns no functions. Example: gcc -O0, -O1 and -Os, a table of thirty handlers. Remedy: those
// stand behind a return, where the blocks of a computed `goto` end with a jump.
bool CodePointers::is_where_functions_begin(Address target) const {
  constexpr unsigned kTellsNothing = 8;  // bytes
  if (target % arch_.code.function_alignment != 0) {
    return arch_.code.function_alignment > kTellsNothing && stands_behind_last(target);
  }
  if (arch_.code.function_alignment > kTellsNothing || arch_.code.features_at_start == nullptr) {
    return true;
  }
  const AddressRange* area = area_of(target);
  return area != nullptr &&
         arch_.code.features_at_start(file_.at(area->begin), target - area->begin).prologue;
}

// Whether a return or a call is the instruction before.
bool CodePointers::stands_behind_last(Address target) const {
  constexpr Address kLongestReturn = 4;  // bytes
  for (Address size = 1; decoder_ != nullptr && size <= kLongestReturn; ++size) {
    const auto before = decoder_->decode(file_.at(target - size), target - size);
    if (before && before->returns && before->size == size) {
      return true;
    }
  }
  const auto before = file_.at(target - arch_.code.longest_call).slice(0, arch_.code.longest_call);
  return before && arch_.code.call_before != nullptr &&
         arch_.code.call_before(*before, target).has_value();
}

// Tables of addresses that indirect jumps name; a table ends where another begins or where a word
// does not point to code.
void CodePointers::read_jump_tables() {
  std::vector<Address> tables;
  for (const AddressRange& area : areas_) {
    const ByteView code = file_.at(area.begin);
    const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
    if (inside && arch_.code.append_jump_tables != nullptr) {
      arch_.code.append_jump_tables(*inside, tables);
    }
  }
  sort_distinct(tables);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Address end = i + 1 < tables.size() ? tables[i + 1] : ~Address{0};
    for (Address at = tables[i]; at < end; at += arch_.abi.pointer_size) {
      const auto word = file_.at(at).read_unsigned(0, arch_.abi.pointer_size);
      const Address target = arch_.code_address(word.value_or(0));
      if (!word || area_of(target) == nullptr) {
        break;
      }
      cases_.insert(target);
    }
  }
}

// Folklore. Situation: position-independent code keeps the cases of a switch as 32-bit distances
// from their table: lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax.
// Remedy: read every address that instructions take as such a table, as far as it stays in code.
void CodePointers::read_relative_tables(std::vector<Address> tables) {
  constexpr std::uint64_t kEntry = 4;
  sort_distinct(tables);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    check_interrupt_at(i, kManyEntries);
    const Address table = tables[i];
    const ByteView entries = file_.at(table);
    const Address limit = i + 1 < tables.size() ? tables[i + 1] - table : ~Address{0};
    for (std::uint64_t at = 0; at < limit && at < kMostCases * kEntry; at += kEntry) {
      const auto entry = entries.read<std::uint32_t>(at);
      const auto reach = std::int64_t{static_cast<std::int32_t>(entry.value_or(0))};
      const Address target = table + static_cast<Address>(reach);
      if (!entry || area_of(target) == nullptr) {
        break;
      }
      cases_.insert(target);
    }
  }
}

// The same on i386 and MIPS, where the distances count from the global offset table, whose address
// a register holds: any word of the constants may be one.
void CodePointers::read_tables_relative_to_got() {
  const ElfSection* got = file_.section(arch_.linkage.switches_count_from);
  const ElfSection* constants = file_.section(".rodata");
  const auto words = constants != nullptr ? file_.contents(*constants) : std::nullopt;
  if (got == nullptr || !words) {
    return;
  }
  for (std::uint64_t at = 0; at + arch_.abi.pointer_size <= words->size();
       at += arch_.abi.pointer_size) {
    const std::uint64_t distance = words->read_unsigned(at, arch_.abi.pointer_size).value_or(0);
    const Address target =
        (got->address + arch_.linkage.switches_offset + distance) & arch_.address_mask();
    if (area_of(target) != nullptr) {
      cases_.insert(target);
    }
  }
}

void CodePointers::read_words() {
  for (const ElfSection& section : file_.sections()) {
    if (section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0 &&
        (section.flags & SHF_EXECINSTR) == 0) {
      read_words_of(section);
    }
  }
}

void CodePointers::read_words_of(const ElfSection& section) {
  const auto bytes = file_.contents(section);
  if (!bytes) {
    return;
  }
  for (std::uint64_t at = 0; at + arch_.abi.pointer_size <= bytes->size();
       at += arch_.abi.pointer_size) {
    consider(section.address + at, bytes->read_unsigned(at, arch_.abi.pointer_size).value_or(0));
  }
}

}  // namespace whocall
