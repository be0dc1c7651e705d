// Which languages' programs a file may be one of, at no cost.
#pragma once

#include <string_view>

#include "object/elf_file.h"

namespace whocall {

// Whether `text` stands among the bytes as the end of a text.
bool holds_text(ByteView bytes, std::string_view text);

// Whether the names of the symbols that the file has for the loader hold `text`, as a whole name or
// as its end.
bool has_dynamic_text(const ElfFile& file, std::string_view text);

}  // namespace whocall
