#include "symbols/languages/dynamic_text.h"

#include <cstring>
#include <string>

#include "object/elf_symbols.h"

namespace whocall {

bool has_dynamic_text(const ElfFile& file, std::string_view text) {
  const std::string whole = std::string(text) + '\0';
  const auto names = ElfSymbols::dynamic_of(file).strings().bytes();
  return memmem(names.data(), names.size(), whole.data(), whole.size()) != nullptr;
}

}  // namespace whocall
