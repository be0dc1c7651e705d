// The lowest bytes of a number, widened again.
#pragma once

#include <cstdint>

namespace whocall {

// With zeros. `size`: bytes; 8 are all of it.
constexpr std::uint64_t low_bytes(std::uint64_t value, unsigned size) {
  return size >= 8 ? value : value & ((std::uint64_t{1} << (8 * size)) - 1);
}
// With their sign; of 1 to 8 bytes.
constexpr std::uint64_t with_sign(std::uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

}  // namespace whocall
