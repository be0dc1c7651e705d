#include "symbols/jit/jit_object_names.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "object/elf_symbols.h"
#include "object/range_index.h"

namespace whocall {
namespace {

struct Candidate {
  AddressRange range;
  bool sized = false;
  bool global = false;
  std::uint32_t index = 0;  // of the symbol
};

// Runtime address; a miss where the symbol is none of the object's functions. gABI, "Symbol
// values": in object files they count from their section.
std::optional<Address> start_of(const ElfSymbolEntry& symbol, const ElfFile& file) {
  if ((symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) || symbol.section == SHN_UNDEF) {
    return std::nullopt;
  }
  if (symbol.section == SHN_ABS) {
    return symbol.value;
  }
  const auto sections = file.sections();
  if (symbol.section >= sections.size() || (sections[symbol.section].flags & SHF_EXECINSTR) == 0 ||
      sections[symbol.section].address == 0) {
    return std::nullopt;
  }
  return file.type() == ET_REL ? sections[symbol.section].address + symbol.value : symbol.value;
}

// Functions of T32 have a bit in their addresses that is no part of where they begin.
std::vector<Candidate> candidates_of(const JitObject& object, const ElfSymbols& table,
                                     const Architecture& arch) {
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 1; i < table.size(); ++i) {
    const ElfSymbolEntry symbol = table[i];
    const auto value = start_of(symbol, *object.file);
    const auto start = value ? std::optional(arch.code_address(*value)) : std::nullopt;
    const AddressRange* code = start ? object.code_at(*start) : nullptr;
    if (code != nullptr) {
      const Address end =
          symbol.size == 0 ? code->end : std::min(code->end, end_of(*start, symbol.size));
      candidates.push_back({{*start, end}, symbol.size != 0, symbol.binding != STB_LOCAL, i});
    }
  }
  // Of those with one start, the best goes last.
  std::ranges::stable_sort(candidates, {}, [](const Candidate& each) {
    return std::tuple(each.range.begin, each.sized, each.global);
  });
  return candidates;
}

}  // namespace

std::vector<JitFunction> functions_of(const JitObject& object, const Architecture& arch) {
  const ElfSymbols table = ElfSymbols::static_of(*object.file);
  const std::vector<Candidate> candidates = candidates_of(object, table, arch);
  std::vector<JitFunction> functions;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    AddressRange range = candidates[i].range;
    if (i + 1 < candidates.size()) {
      range.end = std::min(range.end, candidates[i + 1].range.begin);
    }
    const auto name = table.name_of(table[candidates[i].index]);
    if (!range.empty() && !name.empty()) {
      functions.push_back({range, std::string(name), NameSource::jit_object, {}});
    }
  }
  return functions;
}

}  // namespace whocall
