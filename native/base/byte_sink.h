// Bytes as they are written one after the other, in the byte order of a file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/byte_view.h"

namespace whocall {

class ByteSink {
 public:
  // `pointer_size` in bytes: 4 or 8.
  ByteSink(Endian endian, unsigned pointer_size) : endian_(endian), pointer_size_(pointer_size) {}

  template <typename T>
  ByteSink& put(T value) {
    std::array<std::byte, sizeof(T)> bytes;
    put_at(bytes.data(), endian_, value);
    return append(bytes);
  }
  // Writes the fields of a record one behind the other; returns where they end.
  template <typename... T>
  static std::byte* put_at(std::byte* at, Endian endian, T... values) {
    static_assert((std::is_unsigned_v<T> && ...));
    const bool native = (endian == Endian::little) == (std::endian::native == std::endian::little);
    const auto put_one = [&](auto value) {
      value = native ? value : swap_bytes(value);
      std::memcpy(at, &value, sizeof value);
      at += sizeof value;
    };
    (put_one(values), ...);
    return at;
  }
  ByteSink& u8(std::uint64_t value) { return put(static_cast<std::uint8_t>(value)); }
  ByteSink& u16(std::uint64_t value) { return put(static_cast<std::uint16_t>(value)); }
  ByteSink& u32(std::uint64_t value) { return put(static_cast<std::uint32_t>(value)); }
  ByteSink& u64(std::uint64_t value) { return put(value); }
  // As wide as a pointer of the file.
  ByteSink& word(std::uint64_t value) { return pointer_size_ == 8 ? u64(value) : u32(value); }

  ByteSink& uleb(std::uint64_t value) {
    do {
      const auto low = static_cast<std::uint8_t>(value & 0x7fU);
      value >>= 7U;
      u8(value == 0 ? low : low | 0x80U);
    } while (value != 0);
    return *this;
  }
  ByteSink& sleb(std::int64_t value) {
    while (true) {
      const auto low = static_cast<std::uint8_t>(value & 0x7f);
      value >>= 7;
      const bool last = (value == 0 && (low & 0x40U) == 0) || (value == -1 && (low & 0x40U) != 0);
      u8(last ? low : low | 0x80U);
      if (last) {
        return *this;
      }
    }
  }
  ByteSink& append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // With the NUL behind it.
  ByteSink& text(std::string_view text) {
    append(std::as_bytes(std::span(text)));
    return u8(0);
  }
  // `size` noughts, to be written over before anything else is added.
  std::byte* extend(std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + size);
    return bytes_.data() + at;
  }
  // `filler` up to the next multiple of `alignment`.
  ByteSink& align(std::size_t alignment, std::uint8_t filler = 0) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, std::byte{filler});
    return *this;
  }
  // Overwrites the 32-bit number at `offset`, which was written before.
  void patch_u32(std::size_t offset, std::uint32_t value) {
    ByteSink number(endian_, pointer_size_);
    number.u32(value);
    std::memcpy(bytes_.data() + offset, number.bytes_.data(), number.bytes_.size());
  }

  void reserve(std::size_t size) { bytes_.reserve(size); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] Endian endian() const { return endian_; }
  [[nodiscard]] unsigned pointer_size() const { return pointer_size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  Endian endian_;
  unsigned pointer_size_;
  std::vector<std::byte> bytes_;
};

}  // namespace whocall
