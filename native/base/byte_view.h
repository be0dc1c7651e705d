// A bounds-checked, endian-aware window on bytes that somebody else owns.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace whocall {

enum class Endian : std::uint8_t { little, big };

template <typename T>
constexpr T swap_bytes(T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(value));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

// Every parser of untrusted bytes goes through this class: an access that does not fit inside the
// view yields an empty optional, so that no file, however hostile, makes us read out of bounds.
// Offsets and sizes are in bytes. Copying a view copies a pointer and a size, never the bytes.
class ByteView {
 public:
  constexpr ByteView() = default;
  constexpr ByteView(std::span<const std::byte> bytes, Endian endian)
      : bytes_(bytes), endian_(endian) {}

  [[nodiscard]] constexpr std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] constexpr std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] constexpr bool empty() const { return bytes_.empty(); }
  [[nodiscard]] constexpr Endian endian() const { return endian_; }

  // `size` bytes from `offset`; empty optional when they do not all lie inside.
  [[nodiscard]] constexpr std::optional<ByteView> slice(std::uint64_t offset,
                                                        std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return std::nullopt;
    }
    return ByteView(bytes_.subspan(offset, size), endian_);
  }

  // Everything from `offset` on; an empty view when the offset lies outside.
  [[nodiscard]] constexpr ByteView from(std::uint64_t offset) const {
    return offset >= bytes_.size() ? ByteView({}, endian_)
                                   : ByteView(bytes_.subspan(offset), endian_);
  }

  template <typename T>
  [[nodiscard]] std::optional<T> read(std::uint64_t offset) const {
    static_assert(std::is_unsigned_v<T>);
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    const bool native = (endian_ == Endian::little) == (std::endian::native == std::endian::little);
    return native ? value : swap_bytes(value);
  }

  // An unsigned integer of 1, 2, 4 or 8 bytes, widened; other sizes are a miss.
  [[nodiscard]] std::optional<std::uint64_t> read_unsigned(std::uint64_t offset,
                                                           unsigned size) const {
    switch (size) {
      case 1:
        return read<std::uint8_t>(offset);
      case 2:
        return read<std::uint16_t>(offset);
      case 4:
        return read<std::uint32_t>(offset);
      case 8:
        return read<std::uint64_t>(offset);
      default:
        return std::nullopt;
    }
  }

  // The NUL-terminated string at `offset`; a miss when no NUL follows inside the view.
  [[nodiscard]] std::optional<std::string_view> c_string(std::uint64_t offset) const {
    if (offset >= bytes_.size()) {
      return std::nullopt;
    }
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + offset;
    const void* end = std::memchr(begin, 0, bytes_.size() - offset);
    if (end == nullptr) {
      return std::nullopt;
    }
    return std::string_view(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  }

 private:
  std::span<const std::byte> bytes_;
  Endian endian_ = Endian::little;
};

}  // namespace whocall
