#include "symbols/languages/dynamic_text.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "object/elf_symbols.h"

namespace whocall {

bool holds_text(ByteView bytes, std::string_view text) {
  // More names and texts has no program, but a table may be announced over gigabytes of a hole.
  constexpr std::size_t kMostSearched = std::size_t{64} << 20U;  // bytes
  const std::string whole = std::string(text) + '\0';
  const auto near = bytes.bytes().first(std::min(bytes.size(), kMostSearched));
  return !near.empty() && memmem(near.data(), near.size(), whole.data(), whole.size()) != nullptr;
}

bool has_dynamic_text(const ElfFile& file, std::string_view text) {
  return holds_text(ElfSymbols::dynamic_of(file).strings(), text);
}

}  // namespace whocall
