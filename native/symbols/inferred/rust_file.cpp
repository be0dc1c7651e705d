#include "symbols/inferred/rust_file.h"

#include <string_view>

#include "base/text_lines.h"

namespace whocall {
namespace {

bool has(const ElfFile& file, const ElfSection* section, std::string_view words) {
  const auto found = section != nullptr ? file.contents(*section) : std::nullopt;
  return found && as_text(found->bytes()).find(words) != std::string_view::npos;
}

}  // namespace

bool is_rust_file(const ElfFile& file, Address text) {
  return has(file, file.section(".comment"), "rustc version ") ||
         has(file, file.section_at(text), "library/std/src/");
}

}  // namespace whocall
