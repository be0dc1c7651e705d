#include "object/elf_imports.h"

#include <elf.h>

#include <vector>

#include "object/elf_symbols.h"

namespace whocall {

// Any dynamic relocation against a named symbol with no addend binds the word to the symbol, so the
// relocation's type (which differs with every machine) need not be known.
std::unordered_map<Address, std::string_view> imported_functions(const ElfFile& file) {
  std::unordered_map<Address, std::string_view> imports;
  const std::vector<ElfSymbol> symbols = dynamic_symbols(file);
  const unsigned word = file.pointer_size();
  for (const ElfSection& section : file.sections()) {
    const bool with_addend = section.type == SHT_RELA;
    const auto bytes = file.contents(section);
    if ((!with_addend && section.type != SHT_REL) || (section.flags & SHF_ALLOC) == 0 || !bytes) {
      continue;
    }
    const std::uint64_t entry = word * (with_addend ? 3U : 2U);
    for (std::uint64_t at = 0; at + entry <= bytes->size(); at += entry) {
      const auto offset = bytes->read_unsigned(at, word);
      const auto info = bytes->read_unsigned(at + word, word);
      const std::uint64_t index = word == 8 ? *info >> 32U : *info >> 8U;
      if (index != 0 && index <= symbols.size() && !symbols[index - 1].name.empty()) {
        imports.emplace(*offset, symbols[index - 1].name);
      }
    }
  }
  return imports;
}

}  // namespace whocall
