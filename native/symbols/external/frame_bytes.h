// Bytes of tables and headers, in the order of an instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_view.h"

namespace whocall {

class FrameBytes {
 public:
  explicit FrameBytes(Endian endian) : endian_(endian) {}

  void byte(unsigned value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void fixed(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (endian_ == Endian::little ? i : size - 1 - i);
      byte(static_cast<unsigned>(value >> shift) & 0xffU);
    }
  }
  void uleb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
      byte(static_cast<unsigned>(value & 0x7fU) | 0x80U);
    }
    byte(static_cast<unsigned>(value));
  }
  void sleb(std::int64_t value) {
    for (; value < -0x40 || value >= 0x40; value >>= 7) {
      byte((static_cast<unsigned>(value) & 0x7fU) | 0x80U);
    }
    byte(static_cast<unsigned>(value) & 0x7fU);
  }
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void append(const FrameBytes& other) { append(std::span(other.bytes_)); }
  void resize(std::size_t size) { bytes_.resize(size); }
  void block(const FrameBytes& other) {
    uleb(other.bytes_.size());
    append(other);
  }
  void align(std::size_t unit) { bytes_.resize((bytes_.size() + unit - 1) / unit * unit); }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  Endian endian_;
  std::vector<std::byte> bytes_;  // kNop is 0
};

}  // namespace whocall
