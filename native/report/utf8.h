// Characters of texts that are meant to be UTF-8, and need not be.
#pragma once

#include <cstddef>
#include <string_view>

namespace whocall {

// How many characters a reader sees who replaces what is not UTF-8 as the Unicode standard advises
// (section 3.9, "maximal subparts"): Python's decoder with "replace".
std::size_t utf8_length(std::string_view bytes);

}  // namespace whocall
