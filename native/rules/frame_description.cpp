#include "rules/frame_description.h"

namespace whocall::rules {
namespace {

constexpr unsigned kOmit = 0xff;
constexpr unsigned kPcRelative = 0x10;
constexpr unsigned kApplication = 0x70;
// The sorted table as linkers write it: pairs of signed 32-bit distances from the header.
constexpr unsigned kSortedTable = 0x3b;
constexpr std::uint64_t kPair = 8;  // bytes

struct Entry {
  std::uint64_t id_address = 0;  // where its CIE pointer stands
  std::uint64_t id = 0;
  ByteSpan body;  // what follows that
};

bool read_entry(const FrameTables& tables, std::uint64_t address, Entry& entry) {
  ByteCursor cursor(tables.mapped.part(address, ~std::uint64_t{0}));
  std::uint64_t length = cursor.take<std::uint32_t>();
  if (length == 0xffffffff) {
    length = cursor.take<std::uint64_t>();
  }
  entry.id_address = cursor.address();
  entry.id = cursor.take<std::uint32_t>();
  if (!cursor.ok() || length < 4) {
    return false;
  }
  entry.body = cursor.rest();
  const bool whole = entry.body.size >= length - 4;
  entry.body.size = length - 4;
  return whole;
}

std::uint64_t read_pointer(ByteCursor& cursor, unsigned encoding, unsigned word_size) {
  const std::uint64_t base = (encoding & kApplication) == kPcRelative ? cursor.address() : 0;
  const std::uint64_t value = base + cursor.number(encoding, word_size);
  return word_size == 8 ? value : value & 0xffffffff;
}

struct Common {
  unsigned pointer_encoding = 0;
  bool sized = false;  // augmentation data of a stated size follow
};

bool read_augmentation(ByteCursor& cursor, ByteSpan letters, unsigned word_size,
                       FrameDescription& found, Common& common) {
  const std::uint64_t size = cursor.uleb();
  const ByteSpan all = cursor.rest();
  if (!cursor.ok() || size > all.size) {
    return false;
  }
  ByteCursor data({all.bytes, all.begin, size});
  for (std::uint64_t i = 1; i < letters.size; ++i) {
    switch (static_cast<char>(letters.bytes[i])) {
      case 'R':
        common.pointer_encoding = data.take<std::uint8_t>();
        break;
      case 'L':
        data.take<std::uint8_t>();
        break;
      case 'P': {
        const unsigned encoding = data.take<std::uint8_t>();
        data.number(encoding, word_size);
        break;
      }
      case 'S':
        found.signal_frame = true;
        break;
      default:  // 'B' (which key signs return addresses) and later ones bring no data
        break;
    }
  }
  cursor.skip(size);
  return data.ok();
}

bool read_common(const FrameTables& tables, std::uint64_t address, FrameDescription& found,
                 Common& common) {
  Entry entry;
  if (!read_entry(tables, address, entry) || entry.id != 0) {
    return false;
  }
  ByteCursor cursor(entry.body);
  const unsigned version = cursor.take<std::uint8_t>();
  ByteSpan letters = cursor.rest();
  std::uint64_t length = 0;
  while (cursor.take<std::uint8_t>() != 0) {
    ++length;
  }
  letters.size = length;
  found.code_alignment = cursor.uleb();
  found.data_alignment = cursor.sleb();
  found.return_address = version == 1 ? cursor.take<std::uint8_t>() : cursor.uleb();
  common.sized = length != 0 && static_cast<char>(letters.bytes[0]) == 'z';
  if (!cursor.ok() || (version != 1 && version != 3) || (length != 0 && !common.sized)) {
    return false;
  }
  if (common.sized && !read_augmentation(cursor, letters, tables.word_size, found, common)) {
    return false;
  }
  found.initial = cursor.rest();
  return cursor.ok();
}

bool read_description(const FrameTables& tables, std::uint64_t address, FrameDescription& found) {
  Entry entry;
  Common common;
  if (!read_entry(tables, address, entry) || entry.id == 0 ||
      !read_common(tables, entry.id_address - entry.id, found, common)) {
    return false;
  }
  ByteCursor cursor(entry.body);
  found.begin = read_pointer(cursor, common.pointer_encoding, tables.word_size);
  found.end = found.begin + cursor.number(common.pointer_encoding, tables.word_size);
  if (common.sized) {
    cursor.skip(cursor.uleb());
  }
  found.own = cursor.rest();
  return cursor.ok();
}

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

bool find_description(const FrameTables& tables, std::uint64_t address, FrameDescription& found) {
  const std::uint64_t entry = description_before(tables, address);
  found = {};
  return entry != 0 && read_description(tables, entry, found) && address >= found.begin &&
         address < found.end;
}

}  // namespace whocall::rules
