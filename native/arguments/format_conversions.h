// What a format of printf's kind asks for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace whocall {

// Bytes of the integers and pointers that it asks for, in order; `word`: of a pointer.
std::vector<std::uint8_t> sizes_of_conversions(std::string_view format, std::uint8_t word);

}  // namespace whocall
