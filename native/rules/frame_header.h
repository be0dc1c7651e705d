// .eh_frame_hdr: the linker's sorted table of FDEs.
// Source: Linux Standard Base Core, "The .eh_frame_hdr section".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rules/byte_cursor.h"
#include "rules/pointer_encoding.h"

namespace whocall::rules {

namespace frame_header {

inline constexpr std::uint64_t kHalf = 4;  // bytes

// The first or second half of a pair: a distance from the header.
template <bool kSwapped>
inline std::int32_t distance_at(const std::byte* table, std::uint64_t half) {
  std::uint32_t distance = 0;
  std::memcpy(&distance, table + half * kHalf, sizeof distance);
  return static_cast<std::int32_t>(kSwapped ? __builtin_bswap32(distance) : distance);
}

// How many pairs begin at or before a distance.
template <bool kSwapped>
inline std::uint64_t count_until(const std::byte* table, std::uint64_t count, std::int64_t wanted) {
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (distance_at<kSwapped>(table, 2 * middle) <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace frame_header

// Only the one encoding that linkers write (data-relative, 4 signed bytes) is searched; other
// tables are as good as none.
class FrameHeader {
 public:
  FrameHeader() = default;
  // `bytes` begin with the header.
  FrameHeader(const ByteSpan& bytes, unsigned word_size);

  // Pairs of the start of a function and the place of its FDE.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Whether the starts ascend, as the search takes for granted.
  [[nodiscard]] bool is_in_order() const;
  // The address of the FDE with the nearest start at or below `address`. False when all start above
  // it. The table may lie: the FDE has to be asked whether it covers the address.
  bool find(std::uint64_t address, std::uint64_t& place) const;

 private:
  [[nodiscard]] std::uint64_t half(std::uint64_t number) const;

  std::uint64_t base_ = 0;
  std::uint64_t mask_ = 0;
  ByteSpan table_;
  std::uint64_t count_ = 0;
};

// A process asks it anew for each address: no call is made of the usual form.
[[gnu::always_inline]] inline FrameHeader::FrameHeader(const ByteSpan& bytes, unsigned word_size)
    : base_(bytes.begin), mask_(word_size >= 8 ? ~std::uint64_t{0} : 0xffffffff) {
  using pointer_encoding::kBaseMask;
  using pointer_encoding::kDataRelative;
  using pointer_encoding::kOmit;
  using pointer_encoding::kPcRelative;
  using pointer_encoding::kSdata4;
  using pointer_encoding::kUdata4;
  ByteCursor cursor(bytes);
  const unsigned version = cursor.take<std::uint8_t>();
  const unsigned section_encoding = cursor.take<std::uint8_t>();
  const unsigned count_encoding = cursor.take<std::uint8_t>();
  const unsigned table_encoding = cursor.take<std::uint8_t>();
  if (version != 1 || count_encoding == kOmit || (count_encoding & kBaseMask) != 0 ||
      table_encoding != (kDataRelative | kSdata4)) {
    return;
  }
  std::uint64_t count = 0;
  if (section_encoding == (kPcRelative | kSdata4) && count_encoding == kUdata4) {
    cursor.skip(sizeof(std::int32_t));  // as linkers write it
    count = cursor.take<std::uint32_t>();
  } else {
    cursor.number(section_encoding, word_size);
    count = cursor.number(count_encoding, word_size);
  }
  if (cursor.ok()) {
    table_ = cursor.rest();
    const std::uint64_t room = table_.size / (2 * frame_header::kHalf);
    count_ = count < room ? count : room;
  }
}

inline std::uint64_t FrameHeader::half(std::uint64_t number) const {
  const std::int64_t distance = table_.swapped
                                    ? frame_header::distance_at<true>(table_.bytes, number)
                                    : frame_header::distance_at<false>(table_.bytes, number);
  return (base_ + static_cast<std::uint64_t>(distance)) & mask_;
}

inline bool FrameHeader::find(std::uint64_t address, std::uint64_t& place) const {
  const auto wanted = static_cast<std::int64_t>(address - base_);
  const std::uint64_t count = table_.swapped
                                  ? frame_header::count_until<true>(table_.bytes, count_, wanted)
                                  : frame_header::count_until<false>(table_.bytes, count_, wanted);
  if (count == 0) {
    return false;
  }
  place = half(2 * count - 1);
  return true;
}

}  // namespace whocall::rules
