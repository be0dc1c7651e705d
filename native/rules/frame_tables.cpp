#include "rules/frame_tables.h"

namespace whocall::rules {
namespace {

constexpr unsigned kOmit = 0xff;
// The sorted table as linkers write it: pairs of signed 32-bit distances from the header.
constexpr unsigned kSortedTable = 0x3b;
constexpr std::uint64_t kPair = 8;  // bytes

// The last pair of the sorted table that begins at or before `address`; 0 where none does.
std::uint64_t description_before(const FrameTables& tables, std::uint64_t address) {
  ByteCursor cursor(tables.mapped.part(tables.header, ~std::uint64_t{0}));
  const unsigned version = cursor.take<std::uint8_t>();
  const unsigned section_encoding = cursor.take<std::uint8_t>();
  const unsigned count_encoding = cursor.take<std::uint8_t>();
  const unsigned table_encoding = cursor.take<std::uint8_t>();
  if (version != 1 || count_encoding == kOmit || table_encoding != kSortedTable) {
    return 0;
  }
  cursor.number(section_encoding, tables.word_size);
  std::uint64_t low = 0;
  std::uint64_t high = cursor.number(count_encoding, tables.word_size);
  const ByteSpan table = cursor.rest();
  if (!cursor.ok() || high > table.size / kPair) {
    return 0;
  }
  const auto value = [&](std::uint64_t pair, std::uint64_t half) {
    std::int32_t distance = 0;
    std::memcpy(&distance, table.bytes + pair * kPair + half * sizeof distance, sizeof distance);
    return tables.header + static_cast<std::uint64_t>(std::int64_t{distance});
  };
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (value(middle, 0) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : value(low - 1, 1);
}

}  // namespace

bool find_description(const FrameTables& tables, std::uint64_t address, WholeDescription& found) {
  const std::uint64_t entry = description_before(tables, address);
  return entry != 0 &&
         read_description({.bytes = tables.mapped, .word_size = tables.word_size},
                          entry - tables.mapped.begin, found) &&
         address >= found.fde.begin && address < found.fde.end;
}

}  // namespace whocall::rules
