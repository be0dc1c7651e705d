// Reads the numbers of unwind tables out of a span of bytes. Nothing is read past its end: what
// would be is 0, and `ok` is false from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace whocall::rules {

// Bytes and the address of the first one.
struct ByteSpan {
  const std::byte* bytes = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // bytes
  bool swapped = false;    // their order is not this machine's

  // The part [address, address + length), as far as it lies inside.
  [[nodiscard]] ByteSpan part(std::uint64_t address, std::uint64_t length) const {
    const std::uint64_t offset = address - begin;
    if (address < begin || offset >= size) {
      return {};
    }
    return {bytes + offset, address, length < size - offset ? length : size - offset, swapped};
  }
};

class ByteCursor {
 public:
  // Begins so many bytes behind the span's own beginning.
  explicit ByteCursor(const ByteSpan& span, std::uint64_t at = 0)
      : span_(span), at_(at < span.size ? at : span.size), ok_(at <= span.size) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return at_ >= span_.size; }
  [[nodiscard]] std::uint64_t place() const { return at_; }  // bytes from the beginning
  [[nodiscard]] std::uint64_t address() const { return span_.begin + at_; }
  [[nodiscard]] ByteSpan rest() const {
    return {span_.bytes + at_, span_.begin + at_, span_.size - at_, span_.swapped};
  }
  [[nodiscard]] const ByteSpan& span() const { return span_; }

  template <typename Number>
  Number take() {
    Number value{};
    if (span_.size - at_ < sizeof value) {
      return stop<Number>();
    }
    std::memcpy(&value, span_.bytes + at_, sizeof value);
    at_ += sizeof value;
    if constexpr (sizeof value > 1 && std::is_integral_v<Number>) {
      if (span_.swapped) [[unlikely]] {
        return reversed(value);
      }
    }
    return value;
  }

  // As many bytes as are stated; none where they are not all there.
  ByteSpan block(std::uint64_t count) {
    const ByteSpan behind = rest();
    skip(count);
    return ok_ ? ByteSpan{behind.bytes, behind.begin, count, behind.swapped} : ByteSpan{};
  }

  void skip(std::uint64_t count) {
    if (count > span_.size - at_) {
      stop<int>();
    } else {
      at_ += count;
    }
  }

  std::uint64_t uleb() {
    unsigned shift = 0;
    return leb(shift).value;
  }

  std::int64_t sleb() {
    unsigned shift = 0;
    const Leb number = leb(shift);
    const bool negative = (number.last & 0x40) != 0 && shift < 64;
    return static_cast<std::int64_t>(negative ? number.value | ~std::uint64_t{0} << shift
                                              : number.value);
  }

  // An address of so many bytes.
  std::uint64_t word(unsigned word_size) {
    switch (word_size) {
      case 2:
        return take<std::uint16_t>();
      case 4:
        return take<std::uint32_t>();
      case 8:
        return take<std::uint64_t>();
      default:
        return stop<std::uint64_t>();
    }
  }

  // A number as DW_EH_PE_* `form` (its low four bits) says; signed ones extended.
  std::uint64_t number(unsigned form, unsigned word_size) {
    switch (form & 0x0fU) {
      case 0x0:
      case 0x8:
        return word(word_size);
      case 0x1:
        return uleb();
      case 0x2:
        return take<std::uint16_t>();
      case 0x3:
        return take<std::uint32_t>();
      case 0x4:
      case 0xc:
        return take<std::uint64_t>();
      case 0x9:
        return static_cast<std::uint64_t>(sleb());
      case 0xa:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
      case 0xb:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
      default:
        return stop<std::uint64_t>();
    }
  }

 private:
  struct Leb {
    std::uint64_t value = 0;
    std::uint8_t last = 0;
  };

  Leb leb(unsigned& shift) {
    Leb number;
    do {
      number.last = take<std::uint8_t>();
      if (shift < 64) {
        number.value |= std::uint64_t{number.last & 0x7fU} << shift;
      }
      shift += 7;
    } while (ok_ && (number.last & 0x80) != 0);
    return number;
  }

  template <typename Number>
  Number stop() {
    ok_ = false;
    at_ = span_.size;
    return Number{};
  }

  template <typename Number>
  static Number reversed(Number value) {
    if constexpr (sizeof value == 2) {
      return static_cast<Number>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
    } else if constexpr (sizeof value == 4) {
      return static_cast<Number>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
    } else {
      return static_cast<Number>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
    }
  }

  ByteSpan span_;
  std::uint64_t at_ = 0;
  bool ok_ = true;
};

}  // namespace whocall::rules
