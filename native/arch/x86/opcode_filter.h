// Which bytes of x86 code may begin something that tells about starts, many at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall::x86 {

// What may begin at a byte and tell about starts.
enum Opcode : std::uint8_t {
  opcode_none = 0,
  opcode_call = 1,        // e8
  opcode_jump = 2,        // e9
  opcode_branch = 4,      // 0f 8x
  opcode_short_jump = 8,  // eb, 7x, loop and jcxz, to an aligned address: nobody asks for others
  opcode_endbr = 16,      // f3 0f
  opcode_lea = 32,        // 8d, of an address relative to the pc; the prefix stands before it
  opcode_immediate = 64,  // a number that may be an address
};

inline constexpr Address kFunctionAlignment = 16;

// Bytes that the processor looks at in one go.
inline constexpr std::size_t kLane = 16;
using Lane [[gnu::vector_size(kLane)]] = std::uint8_t;

// Which bytes are the opcode of lea distance(%rip),%reg; `next` are the bytes behind each.
inline Lane leas_of(const Lane& byte, const Lane& next) {
  return Lane(byte == 0x8d) & Lane((next & 0xc7) == 0x05);
}

// What each byte of a lane may begin; one byte more is read. `address` is that of the first.
inline Lane opcodes_of(const std::uint8_t* bytes, Address address, bool fixed) {
  static_assert(kFunctionAlignment == kLane);
  constexpr Lane kPlaces = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  Lane byte;
  Lane next;
  std::memcpy(&byte, bytes, kLane);
  std::memcpy(&next, bytes + 1, kLane);
  const auto is = [](auto comparison, std::uint8_t lead) { return Lane(comparison) & lead; };
  const Lane target = next + kPlaces + static_cast<std::uint8_t>(address);  // of a short jump
  Lane found = is(byte == 0xe8, opcode_call) | is(byte == 0xe9, opcode_jump);
  found |= is((byte == 0x0f) & ((next & 0xf0) == 0x80), opcode_branch);
  found |= is(((byte == 0xeb) | ((byte & 0xf0) == 0x70) | ((byte & 0xfc) == 0xe0)) &
                  (target % kFunctionAlignment == 0),
              opcode_short_jump);
  found |= is((byte == 0xf3) & (next == 0x0f), opcode_endbr);
  found |= is(leas_of(byte, next), opcode_lea);
  if (fixed) {
    found |= is(((byte & 0xf8) == 0xb8) | (byte == 0x68) | (byte == 0xc7), opcode_immediate);
  }
  return found;
}

// Calls visit(index, byte) for each byte of a lane that is not 0; most lanes have few.
template <typename Visit>
void for_each_set(const Lane& lane, Visit visit) {
  std::array<std::uint64_t, kLane / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), &lane, kLane);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool swapped = std::endian::native == std::endian::big;
    for (std::uint64_t word = swapped ? swap_bytes(words[i]) : words[i]; word != 0;) {
      const auto shift = static_cast<unsigned>(std::countr_zero(word)) / 8 * 8;
      visit(i * sizeof word + shift / 8, static_cast<std::uint8_t>(word >> shift));
      word &= ~(std::uint64_t{0xff} << shift);
    }
  }
}

}  // namespace whocall::x86
