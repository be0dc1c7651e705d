// Literal bytes for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/byte_view.h"

namespace whocall::test {

// Bytes, written down one after the other; little-endian, if nothing else is said.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(Endian endian) : endian_(endian) {}
  Bytes(std::initializer_list<unsigned> list) {
    for (const unsigned value : list) {
      u8(value);
    }
  }

  Bytes& u8(std::uint64_t value) { return fixed(value, 1); }
  Bytes& u16(std::uint64_t value) { return fixed(value, 2); }
  Bytes& u32(std::uint64_t value) { return fixed(value, 4); }
  Bytes& u64(std::uint64_t value) { return fixed(value, 8); }
  Bytes& fixed(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned place = endian_ == Endian::little ? i : size - 1 - i;
      bytes_.push_back(static_cast<std::byte>(value >> (8 * place)));
    }
    return *this;
  }
  Bytes& uleb(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7U) {
      u8((value & 0x7fU) | 0x80U);
    }
    return u8(value);
  }
  Bytes& sleb(std::int64_t value) {
    while (value < -64 || value > 63) {
      u8((static_cast<std::uint64_t>(value) & 0x7fU) | 0x80U);
      value >>= 7;
    }
    return u8(static_cast<std::uint64_t>(value) & 0x7fU);
  }
  Bytes& text(std::string_view characters) {  // with a NUL behind it
    for (const char character : characters) {
      u8(static_cast<unsigned char>(character));
    }
    return u8(0);
  }
  Bytes& append(const std::vector<std::byte>& more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  Bytes& append(const Bytes& more) { return append(more.bytes_); }
  Bytes& fill(std::size_t count, std::uint8_t value) {
    bytes_.insert(bytes_.end(), count, std::byte{value});
    return *this;
  }
  Bytes& align(std::size_t alignment, std::uint8_t filler = 0) {
    return fill((alignment - bytes_.size() % alignment) % alignment, filler);
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::vector<std::byte>& get() const { return bytes_; }
  // The bytes must outlive the view.
  [[nodiscard]] ByteView view(Endian endian = Endian::little) const { return {bytes_, endian}; }

 private:
  Endian endian_ = Endian::little;
  std::vector<std::byte> bytes_;
};

}  // namespace whocall::test
