// Reads FLIRT files: `.sig`, packed trees of versions 5 to 10, and `.pat`, their text.
//
// Sources: the text's grammar as FLAIR's pat.txt tells it; the trees as rizin, lancelot and nampa
// read them (facts of the format only).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "symbols/flirt/flirt_set.h"

namespace whocall {

// Whether the first bytes are those of either.
bool is_flirt_tree(std::span<const std::byte> bytes);
bool is_flirt_text(std::span<const std::byte> bytes);

// Throw Error: of a version that is not known, a damaged file, or one that grows beyond all measure
// when it is unpacked. `path` is for the message.
FlirtSet read_flirt_tree(std::span<const std::byte> bytes, const std::string& path);
// Lines that make no sense are left out.
FlirtSet read_flirt_text(std::string_view text, const std::string& path);

// What is thrown for a file that holds more than any library has.
Error too_large_flirt_file(const std::string& path);

}  // namespace whocall
