#include "symbols/table/elf_function_symbols.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "arch/elf_machine.h"
#include "base/interrupt.h"
#include "object/elf_symbols.h"
#include "object/range_index.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

bool is_executable(const ElfSection& section) {
  return (section.flags & SHF_EXECINSTR) != 0 && (section.flags & SHF_ALLOC) != 0;
}

class FunctionFilter {
 public:
  explicit FunctionFilter(const ElfFile& file)
      : sections_(file.sections()),
        parts_(code_parts(file)),
        machine_(elf_machine(file.machine())) {}

  // What `entry` of `table` says of a function, without its name; a miss when it names none.
  [[nodiscard]] std::optional<Symbol> function(const ElfSymbols& table,
                                               const ElfSymbolEntry& entry) const {
    const bool typed = is_function_type(entry.type);
    if ((!typed && entry.type != STT_NOTYPE) || entry.section == SHN_UNDEF ||
        entry.name_offset == 0 || entry.name_offset >= table.strings().size() ||
        (machine_.has_marks() && machine_.is_mark(table.name_of(entry)))) {
      return std::nullopt;
    }
    const Address start = typed ? entry.value & ~machine_.function_mode_bits : entry.value;
    const auto limit = limit_of(entry, start, typed);
    // `_end` and its like, which linkers put behind the last section there is.
    if (!limit || (!typed && start >= *limit)) {
      return std::nullopt;
    }
    Symbol function;
    const std::uint64_t room = *limit > start ? *limit - start : 0;
    function.range = {start, start + std::min(entry.size, room)};
    function.global = entry.binding != STB_LOCAL;
    function.weak = entry.binding == STB_WEAK;
    function.exact_end = entry.size != 0;
    return function;
  }

 private:
  [[nodiscard]] bool is_function_type(std::uint8_t type) const {
    return type == STT_FUNC || type == STT_GNU_IFUNC ||
           (type != STT_NOTYPE && type == machine_.function_type);
  }

  // Where the part that the symbol is defined in ends; a miss when that holds no code.
  [[nodiscard]] std::optional<Address> limit_of(const ElfSymbolEntry& symbol, Address start,
                                                bool typed) const {
    if (symbol.section == SHN_ABS) {
      return typed ? std::optional(~Address{0}) : std::nullopt;
    }
    if (symbol.section < sections_.size()) {
      const ElfSection& section = sections_[symbol.section];
      return is_executable(section) ? std::optional(end_of(section.address, section.size))
                                    : std::nullopt;
    }
    if (!sections_.empty()) {
      return std::nullopt;  // COMMON, or damage
    }
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const AddressRange& each) {
      return each.contains(start) || each.end == start;
    });
    return part == parts_.end() ? std::nullopt : std::optional(part->end);
  }

  std::span<const ElfSection> sections_;
  std::vector<AddressRange> parts_;
  const ElfMachine& machine_;
};

// At most so many can have a name of their own: a table of many gigabytes may be a hole in its
// file.
std::size_t likely_size(const ElfSymbols& table) {
  return std::min(table.size(), table.strings().size());
}

void add(const std::shared_ptr<const ElfFile>& file, const ElfSymbols& table, NameSource source,
         SymbolList& functions) {
  const FunctionFilter filter(*file);
  const StringTable names = functions.names().add_table(table.strings(), true, file);
  for (std::size_t i = 1; i < table.size(); ++i) {
    check_interrupt_at(i, kManyEntries);
    const ElfSymbolEntry entry = table[i];
    if (auto function = filter.function(table, entry)) {
      function->source = source;
      functions.add(*function, names.at(entry.name_offset));
    }
  }
}

}  // namespace

void add_elf_functions(const std::shared_ptr<const ElfFile>& file, SymbolList& functions) {
  const ElfSymbols written = ElfSymbols::static_of(*file);
  const ElfSymbols dynamic = ElfSymbols::dynamic_of(*file);
  functions.reserve(functions.size() + likely_size(written) + likely_size(dynamic));
  add(file, written, NameSource::symtab, functions);
  add(file, dynamic, NameSource::dynsym, functions);
}

void add_companion_functions(const std::shared_ptr<const ElfFile>& file, NameSource source,
                             SymbolList& functions) {
  const ElfSymbols written = ElfSymbols::static_of(*file);
  functions.reserve(functions.size() + likely_size(written));
  add(file, written, source, functions);
}

}  // namespace whocall
