// A checksum of bytes, as fast as they can be read: against damage, not against malice.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/byte_view.h"

namespace whocall {

// Continues from `before`, the checksum of what came earlier. Each step is one-to-one in what it
// adds, so one changed word always changes the result; four chains, as a processor multiplies
// faster than it waits for products.
inline std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t before = 0) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::size_t kChains = 4;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // the golden ratio, in bits
  const auto step = [](std::uint64_t sum, std::uint64_t word) {
    return std::rotl((sum ^ word) * kOdd, 29);
  };
  std::array<std::uint64_t, kChains> sums = {before, kOdd, bytes.size(), ~kOdd};
  const auto take = [&](const std::byte* at) {
    for (std::size_t chain = 0; chain < kChains; ++chain) {
      std::uint64_t word = 0;
      std::memcpy(&word, at + chain * kWord, kWord);
      word = std::endian::native == std::endian::little ? word : swap_bytes(word);
      sums[chain] = step(sums[chain], word);
    }
  };
  std::size_t at = 0;
  for (; at + kChains * kWord <= bytes.size(); at += kChains * kWord) {
    take(bytes.data() + at);
  }
  std::array<std::byte, kChains * kWord> rest{};
  std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  take(rest.data());
  return step(step(step(sums[0], sums[1]), sums[2]), sums[3]);
}

}  // namespace whocall
