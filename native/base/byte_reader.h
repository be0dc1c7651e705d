// A cursor over a ByteView, for formats that are read front to back (DWARF, notes).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/byte_view.h"

namespace whocall {

// The first read that does not fit makes the reader fail for good: it and all later reads give
// zero, and `ok()` is false. So a decoder reads a whole record straight down and asks once.
class ByteReader {
 public:
  explicit ByteReader(ByteView view, std::uint64_t offset = 0)
      : view_(view), offset_(offset), ok_(offset <= view.size()) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return !ok_ || offset_ >= view_.size(); }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t remaining() const { return ok_ ? view_.size() - offset_ : 0; }
  [[nodiscard]] const ByteView& view() const { return view_; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(fixed(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(fixed(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t u64() { return fixed(8); }
  std::int64_t s8() { return static_cast<std::int8_t>(u8()); }
  std::int64_t s16() { return static_cast<std::int16_t>(u16()); }
  std::int64_t s32() { return static_cast<std::int32_t>(u32()); }

  // An unsigned integer of `size` (1, 2, 4 or 8) bytes.
  std::uint64_t fixed(unsigned size) {
    const auto value = ok_ ? view_.read_unsigned(offset_, size) : std::nullopt;
    if (!value) {
      return fail();
    }
    offset_ += size;
    return *value;
  }

  // LEB128, as DWARF 5, section 7.6. Bits beyond the 64th are dropped, as all readers do.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    while (true) {
      const std::uint8_t byte = u8();
      if (shift < 64) {
        value |= std::uint64_t{byte & 0x7fU} << shift;
      }
      shift += 7;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = u8();
      if (shift < 64) {
        value |= std::uint64_t{byte & 0x7fU} << shift;
      }
      shift += 7;
    } while ((byte & 0x80U) != 0);
    if (shift < 64 && (byte & 0x40U) != 0) {
      value |= ~std::uint64_t{0} << shift;
    }
    return static_cast<std::int64_t>(value);
  }

  std::string_view c_string() {
    const auto text = ok_ ? view_.c_string(offset_) : std::nullopt;
    if (!text) {
      fail();
      return {};
    }
    offset_ += text->size() + 1;
    return *text;
  }

  ByteView block(std::uint64_t size) {
    const auto part = ok_ ? view_.slice(offset_, size) : std::nullopt;
    if (!part) {
      fail();
      return {};
    }
    offset_ += size;
    return *part;
  }

  void skip(std::uint64_t size) { block(size); }

  void seek(std::uint64_t offset) {
    ok_ = ok_ && offset <= view_.size();
    offset_ = ok_ ? offset : offset_;
  }

 private:
  std::uint64_t fail() {
    ok_ = false;
    return 0;
  }

  ByteView view_;
  std::uint64_t offset_;
  bool ok_;
};

}  // namespace whocall
