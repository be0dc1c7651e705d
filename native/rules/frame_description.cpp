#include "rules/frame_description.h"

namespace whocall::rules {
namespace {

constexpr unsigned kPcRelative = 0x10;
constexpr unsigned kApplication = 0x70;
constexpr std::uint64_t kMostLetters = 16;          // of an augmentation: compilers write five
constexpr std::uint64_t kDebugCommon = 0xffffffff;  // what stands in a CIE of .debug_frame

struct Entry {
  std::uint64_t id_address = 0;  // where its CIE pointer stands
  std::uint64_t id = 0;
  ByteSpan body;  // what follows that
};

bool read_entry(const FrameEntries& entries, std::uint64_t place, Entry& entry) {
  ByteCursor cursor(entries.bytes.part(place, ~std::uint64_t{0}));
  std::uint64_t length = cursor.take<std::uint32_t>();
  if (length == 0xffffffff) {
    // There the CIE pointer of .debug_frame has 64 bits, that of .eh_frame has not.
    if (entries.debug) {
      return false;
    }
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

bool is_common(const FrameEntries& entries, const Entry& entry) {
  return entry.id == (entries.debug ? kDebugCommon : 0);
}

// Where the CIE of an FDE stands.
std::uint64_t common_of(const FrameEntries& entries, const Entry& entry) {
  return entries.debug ? entry.id : entry.id_address - entry.id;
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

// From version 4 on a CIE says how large addresses and segments are.
bool fits_machine(ByteCursor& cursor, unsigned version, unsigned word_size) {
  if (version != 4) {
    return version == 1 || version == 3;
  }
  return cursor.take<std::uint8_t>() == word_size && cursor.take<std::uint8_t>() == 0;
}

bool read_common(const FrameEntries& entries, std::uint64_t place, FrameDescription& found,
                 Common& common) {
  Entry entry;
  if (!read_entry(entries, place, entry) || !is_common(entries, entry)) {
    return false;
  }
  ByteCursor cursor(entry.body);
  const unsigned version = cursor.take<std::uint8_t>();
  ByteSpan letters = cursor.rest();
  std::uint64_t length = 0;
  while (length < kMostLetters && cursor.take<std::uint8_t>() != 0) {
    ++length;
  }
  letters.size = length;
  const bool fits = fits_machine(cursor, version, entries.word_size);
  found.code_alignment = cursor.uleb();
  found.data_alignment = cursor.sleb();
  found.return_address = version == 1 ? cursor.take<std::uint8_t>() : cursor.uleb();
  common.sized = length != 0 && static_cast<char>(letters.bytes[0]) == 'z';
  if (!cursor.ok() || !fits || (length != 0 && !common.sized)) {
    return false;
  }
  if (common.sized && !read_augmentation(cursor, letters, entries.word_size, found, common)) {
    return false;
  }
  found.initial = cursor.rest();
  return cursor.ok();
}

}  // namespace

bool read_description(const FrameEntries& entries, std::uint64_t place, FrameDescription& found) {
  Entry entry;
  Common common;
  found = {};
  if (!read_entry(entries, place, entry) || is_common(entries, entry) ||
      !read_common(entries, common_of(entries, entry), found, common)) {
    return false;
  }
  ByteCursor cursor(entry.body);
  found.begin = read_pointer(cursor, common.pointer_encoding, entries.word_size);
  found.end = found.begin + cursor.number(common.pointer_encoding, entries.word_size);
  if (common.sized) {
    cursor.skip(cursor.uleb());
  }
  found.own = cursor.rest();
  return cursor.ok();
}

bool find_next_entry(const FrameEntries& entries, std::uint64_t place, std::uint64_t& next) {
  Entry entry;
  if (!read_entry(entries, place, entry)) {
    return false;
  }
  next = entry.body.begin + entry.body.size;
  return true;
}

}  // namespace whocall::rules
