#include "symbols/elf_function_symbols.h"

#include <elf.h>

#include <algorithm>

#include "object/range_index.h"
#include "symbols/code_areas.h"

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

class FunctionFilter {
 public:
  explicit FunctionFilter(const ElfFile& file)
      : file_(file), sections_(file.sections()), parts_(code_parts(file)) {}

  void add(const ElfSymbol& symbol, NameSource source, std::vector<Symbol>& functions) const {
    const bool typed = is_function_type(symbol.type);
    if ((!typed && symbol.type != STT_NOTYPE) || symbol.section == SHN_UNDEF ||
        symbol.name.empty() || is_mapping_symbol(file_.machine(), symbol.name)) {
      return;
    }
    const Address start =
        file_.machine() == EM_ARM && typed ? symbol.value & ~Address{1} : symbol.value;
    const auto limit = limit_of(symbol, start, typed);
    if (!limit) {
      return;
    }
    Symbol function;
    const std::uint64_t room = *limit > start ? *limit - start : 0;
    function.range = {start, start + std::min(symbol.size, room)};
    function.name = symbol.name.substr(0, symbol.name.find('@', 1));
    function.source = source;
    function.global = symbol.binding != STB_LOCAL;
    function.weak = symbol.binding == STB_WEAK;
    function.exact_end = symbol.size != 0;
    functions.push_back(function);
  }

 private:
  [[nodiscard]] bool is_function_type(std::uint8_t type) const {
    return type == STT_FUNC || type == STT_GNU_IFUNC ||
           (type == kArmThumbFunction && file_.machine() == EM_ARM);
  }

  // Where the part that the symbol is defined in ends; a miss when that holds no code.
  [[nodiscard]] std::optional<Address> limit_of(const ElfSymbol& symbol, Address start,
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
};

}  // namespace

void add_elf_functions(const ElfFile& file, std::vector<Symbol>& functions) {
  const FunctionFilter filter(file);
  for_each_static_symbol(
      file, [&](const ElfSymbol& symbol) { filter.add(symbol, NameSource::symtab, functions); });
  for_each_dynamic_symbol(
      file, [&](const ElfSymbol& symbol) { filter.add(symbol, NameSource::dynsym, functions); });
}

void add_companion_functions(const ElfFile& file, NameSource source,
                             std::vector<Symbol>& functions) {
  const FunctionFilter filter(file);
  for_each_static_symbol(file,
                         [&](const ElfSymbol& symbol) { filter.add(symbol, source, functions); });
}

}  // namespace whocall
