// Addresses as text.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace whocall {

// "0x401136"
inline std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

}  // namespace whocall
