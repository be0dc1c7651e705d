// A file with a list of names, of whatever format.
#pragma once

#include <string>

#include "symbols/external/listed_names.h"

namespace whocall {

// Reads the whole file; its contents, not its name, tell the format. Throws Error when it cannot be
// opened, is of no format that we know, is damaged, or is larger than kLargestNameFile.
ListedNames read_name_file(const std::string& path);

// Only what tells the format and the module that the list is for; no names. Throws likewise, as far
// as the beginning shows.
ListedNames examine_name_file(const std::string& path);

inline constexpr std::uint64_t kLargestNameFile = std::uint64_t{2} << 30;  // bytes

}  // namespace whocall
