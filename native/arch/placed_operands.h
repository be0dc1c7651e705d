// What linking decides of an instruction, and the rest of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// Where an operand leads that names a place: a distance from the instruction, or an address.
struct PlacedTarget {
  Address address = 0;
  bool is_branch = false;  // of a direct call or jump
};

// An instruction whose operands of that kind are zero, so that it is the same wherever its function
// and what that refers to are linked.
struct PlacedOperands {
  std::array<std::byte, 16> bytes{};
  std::uint8_t size = 0;  // of it, bytes
  std::uint8_t count = 0;
  std::array<PlacedTarget, 2> targets{};

  [[nodiscard]] std::span<const PlacedTarget> list() const {
    return std::span(targets).first(count);
  }
  void add(PlacedTarget target) {
    if (count < targets.size()) {
      targets[count++] = target;
    }
  }
};

// Reads the instructions of one function after the other, each function from its start on.
class PlacedReader {
 public:
  PlacedReader() = default;
  PlacedReader(const PlacedReader&) = delete;
  PlacedReader& operator=(const PlacedReader&) = delete;
  virtual ~PlacedReader() = default;

  // A function begins: what registers hold is not known.
  virtual void begin() {}
  // `instruction` is one whole instruction, at most 16 bytes, which stands at `address`. Jumps into
  // `function` keep their distance.
  virtual PlacedOperands read(ByteView instruction, Address address, AddressRange function) = 0;
};

// What a reader has to know of the file.
struct PlacedImage {
  AddressRange range;  // link addresses of all that is loaded
  bool fixed = false;  // the code runs where it was linked, and so may name addresses outright
};

}  // namespace whocall
