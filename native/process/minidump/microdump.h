// Breakpad's microdumps: a crash as lines of text, such as Android's log keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "process/minidump/minidump.h"

namespace whocall {

struct Microdump {
  Minidump dump;
  std::vector<std::byte> memory;  // which the places of its memory are of
};

// The first whole microdump of a log, of which the first kLongestLog bytes are looked at. `name`
// names the log. Throws Error.
Microdump read_microdump(std::string_view text, const std::string& name, Budget& budget);

inline constexpr std::size_t kLongestLog = std::size_t{1} << 26U;

}  // namespace whocall
