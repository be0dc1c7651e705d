#include "symbols/table/elf_function_symbols.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "object/elf_symbols.h"
#include "object/range_index.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

constexpr std::uint8_t kArmThumbFunction = STT_LOPROC;  // STT_ARM_TFUNC, before the EABI

bool is_executable(const ElfSection& section) {
  return (section.flags & SHF_EXECINSTR) != 0 && (section.flags & SHF_ALLOC) != 0;
}

// ELF for the ARM architecture, "Mapping symbols", and its kin for AArch64 and RISC-V: "$a",
// "$d", "$t", "$x", each alone or before a dot (RISC-V: before an ISA string as well).
bool is_mapping_symbol(std::uint16_t machine, std::string_view name) {
  if (name.size() < 2 || name[0] != '$') {
    return false;
  }
  const char kind = name[1];
  const bool alone = name.size() == 2 || name[2] == '.';
  switch (machine) {
    case EM_ARM:
      return alone && (kind == 'a' || kind == 'd' || kind == 't');
    case EM_AARCH64:
      return alone && (kind == 'x' || kind == 'd');
    case EM_RISCV:
      return kind == 'x' || (alone && kind == 'd');
    default:
      return false;
  }
}

bool has_mapping_symbols(std::uint16_t machine) {
  return machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV;
}

class FunctionFilter {
 public:
  explicit FunctionFilter(const ElfFile& file)
      : file_(file),
        sections_(file.sections()),
        parts_(code_parts(file)),
        has_mapping_symbols_(has_mapping_symbols(file.machine())) {}

  // What `entry` of `table` says of a function, without its name; a miss when it names none.
  [[nodiscard]] std::optional<Symbol> function(const ElfSymbols& table,
                                               const ElfSymbolEntry& entry) const {
    const bool typed = is_function_type(entry.type);
    if ((!typed && entry.type != STT_NOTYPE) || entry.section == SHN_UNDEF ||
        entry.name_offset == 0 || entry.name_offset >= table.strings().size() ||
        (has_mapping_symbols_ && is_mapping_symbol(file_.machine(), table.name_of(entry)))) {
      return std::nullopt;
    }
    const Address start =
        file_.machine() == EM_ARM && typed ? entry.value & ~Address{1} : entry.value;
    const auto limit = limit_of(entry, start, typed);
    if (!limit) {
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
           (type == kArmThumbFunction && file_.machine() == EM_ARM);
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

  const ElfFile& file_;
  std::span<const ElfSection> sections_;
  std::vector<AddressRange> parts_;
  bool has_mapping_symbols_;
};

void add(const std::shared_ptr<const ElfFile>& file, const ElfSymbols& table, NameSource source,
         SymbolList& functions) {
  const FunctionFilter filter(*file);
  const StringTable names = functions.names().add_table(table.strings(), true, file);
  for (std::size_t i = 1; i < table.size(); ++i) {
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
  functions.reserve(functions.size() + written.size() + dynamic.size());
  add(file, written, NameSource::symtab, functions);
  add(file, dynamic, NameSource::dynsym, functions);
}

void add_companion_functions(const std::shared_ptr<const ElfFile>& file, NameSource source,
                             SymbolList& functions) {
  const ElfSymbols written = ElfSymbols::static_of(*file);
  functions.reserve(functions.size() + written.size());
  add(file, written, source, functions);
}

}  // namespace whocall
