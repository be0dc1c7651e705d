// Hashes that are the same on every machine, to be kept in files: they tell chance, not malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace whocall {

// The finalizer of MurmurHash3, which spreads each bit over all.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 33U) * 0xff51afd7ed558ccdU;
  value = (value ^ value >> 33U) * 0xc4ceb9fe1a85ec53U;
  return value ^ value >> 33U;
}

constexpr std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) {
  return mixed(sum * 0x9e3779b97f4a7c15U + value + 1);
}

// Of bytes, eight a step, the low one first.
inline std::uint64_t mixed_hash(std::span<const std::byte> bytes) {
  std::uint64_t sum = bytes.size();
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 8 && at < bytes.size(); ++i) {
      word |= std::to_integer<std::uint64_t>(bytes[at++]) << (8U * i);
    }
    sum = mixed(sum, word);
  }
  return sum;
}

}  // namespace whocall
