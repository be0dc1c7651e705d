// Who can read bytes at a runtime address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// The memory of a stopped process or of a core: it does not change while a Memory lives, so runs
// that were handed out stay valid as long as the object. A miss is an empty run, never an error.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  // The bytes held contiguously from `address` on (runtime address): as many as the source has at
  // hand without copying, at least one; empty when the address cannot be read.
  [[nodiscard]] virtual std::span<const std::byte> run_at(Address address) const = 0;

  // Fills `out` from `address` on, across runs. Returns how many bytes could be had.
  std::size_t read(Address address, std::span<std::byte> out) const;

  // The `size` bytes from `address` on, or as many of them as can be had: the source's own where
  // one run holds them all, else copied into `room`.
  [[nodiscard]] std::span<const std::byte> bytes_at(Address address, std::size_t size,
                                                    std::vector<std::byte>& room) const;

  // An unsigned integer of 1, 2, 4 or 8 bytes; a miss when not all of it can be read.
  [[nodiscard]] std::optional<std::uint64_t> read_unsigned(Address address, unsigned size,
                                                           Endian endian) const;
};

}  // namespace whocall
