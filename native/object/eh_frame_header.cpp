#include "object/eh_frame_header.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "object/pointer_encoding.h"

namespace whocall {

EhFrameHeader::EhFrameHeader(const LoadedPart& part, unsigned pointer_size)
    : base_(part.address), mask_(pointer_size >= 8 ? ~Address{0} : Address{0xffffffff}) {
  using pointer_encoding::kDataRelative;
  using pointer_encoding::kOmit;
  using pointer_encoding::kSdata4;
  ByteReader reader(part.bytes);
  const std::uint8_t version = reader.u8();
  const std::uint8_t frame_encoding = reader.u8();
  const std::uint8_t count_encoding = reader.u8();
  const std::uint8_t table_encoding = reader.u8();
  if (version != 1 || count_encoding == kOmit || table_encoding != (kDataRelative | kSdata4)) {
    return;
  }
  const PointerBases bases{base_, 0, base_, pointer_size};
  const auto frame = read_encoded_pointer(reader, frame_encoding, bases);
  const auto count = read_encoded_pointer(reader, count_encoding, bases);
  if (!frame || !count) {
    return;
  }
  table_ = part.bytes.from(reader.offset());
  count_ = std::min<std::uint64_t>(*count, table_.size() / 8);
}

Address EhFrameHeader::entry(std::uint64_t index, unsigned field) const {
  const std::uint32_t word = table_.read<std::uint32_t>(index * 8 + field * 4).value_or(0);
  const auto offset = static_cast<std::int64_t>(static_cast<std::int32_t>(word));
  return (base_ + static_cast<Address>(offset)) & mask_;
}

bool EhFrameHeader::is_in_order() const {
  Address before = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const Address start = entry(i, 0);
    if (start < before) {
      return false;
    }
    before = start;
  }
  return true;
}

std::optional<Address> EhFrameHeader::find(Address address) const {
  std::uint64_t low = 0;
  std::uint64_t high = count_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (entry(middle, 0) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? std::nullopt : std::optional(entry(low - 1, 1));
}

}  // namespace whocall
