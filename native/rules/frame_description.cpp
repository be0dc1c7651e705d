#include "rules/frame_description.h"

namespace whocall::rules {
namespace {

constexpr std::uint32_t kLongForm = 0xffffffff;  // DWARF 5, 7.4: a length of 64 bits follows
constexpr std::uint64_t kDebugCie = 0xffffffff;  // what stands in a CIE of .debug_frame
constexpr std::uint64_t kLongDebugCie = ~std::uint64_t{0};

bool is_address_size(unsigned size) { return size == 2 || size == 4 || size == 8; }

// Behind the id, up to where the entry ends.
ByteCursor body_of(const FrameEntries& entries, const FrameEntry& entry) {
  ByteSpan until = entries.bytes;
  until.size = entry.next;
  return ByteCursor(until, entry.body);
}

ByteSpan letters_of(ByteCursor& cursor) {
  ByteSpan letters = cursor.rest();
  std::uint64_t count = 0;
  while (cursor.take<std::uint8_t>() != 0) {
    ++count;
  }
  letters.size = count;
  return letters;
}

bool begins_with(const ByteSpan& letters, const char* text, std::size_t size) {
  return letters.size >= size && std::memcmp(letters.bytes, text, size) == 0;
}

// GCC before 3.0: no data, but a pointer before the factors.
bool is_old(const ByteSpan& letters) { return letters.size == 2 && begins_with(letters, "eh", 2); }

// What one letter says. False where it is not known.
bool read_letter(char letter, ByteCursor& data, Cie& cie) {
  switch (letter) {
    case 'R':
      cie.pointer_encoding = data.take<std::uint8_t>();
      return true;
    case 'L':
      cie.exception_table_encoding = data.take<std::uint8_t>();
      return true;
    case 'P':  // only its length matters here
      return skip_pointer(data, data.take<std::uint8_t>(), cie.context);
    case 'S':
      cie.signal_frame = true;
      return true;
    case 'B':
      cie.signed_return_address = true;
      return true;
    default:
      return letter == 'G';  // memory tagging, without data
  }
}

// LSB, "The Common Information Entry": with 'z', the data have a length, so letters that we do not
// know can be passed over with all behind them; without it, they make the entry unreadable. So do
// letters whose data are not there.
bool read_augmentation(ByteCursor& cursor, const ByteSpan& letters, Cie& cie) {
  const bool sized = begins_with(letters, "z", 1);
  if (!sized && (letters.size == 0 || is_old(letters) || begins_with(letters, "armcc", 5))) {
    return true;
  }
  cie.has_augmentation_data = sized;
  ByteCursor data = cursor;
  if (sized) {
    data = ByteCursor(cursor.block(cursor.uleb()));
  }
  bool known = cursor.ok();
  for (std::uint64_t i = sized ? 1 : 0; known && i < letters.size; ++i) {
    known = read_letter(static_cast<char>(letters.bytes[i]), data, cie);
  }
  if (!sized) {
    cursor = data;
  }
  return cursor.ok() && data.ok() && (known || sized);
}

bool read_code(const FrameEntries& entries, const Cie& cie, ByteCursor& cursor,
               FrameDescription& fde) {
  if (is_plain(entries, cie)) {  // read without detours
    const std::uint64_t field = cursor.address();
    const std::int64_t distance = cursor.take<std::int32_t>();
    const std::int64_t size = cursor.take<std::int32_t>();
    fde.begin = distance == 0 ? 0 : field + static_cast<std::uint64_t>(distance);
    fde.end = end_of_code(fde.begin, static_cast<std::uint64_t>(size), 8);
    return fde.begin != 0 && cursor.ok();
  }
  if (entries.debug) {
    cursor.skip(cie.segment_selector_size);
  }
  std::uint64_t size = 0;
  const unsigned form = cie.pointer_encoding & pointer_encoding::kFormatMask;
  // The length has the format of the start, but is relative to nothing.
  if (!read_pointer(cursor, cie.pointer_encoding, cie.context, fde.begin) ||
      !read_pointer(cursor, form, cie.context, size)) {
    return false;
  }
  fde.end = end_of_code(fde.begin, size, cie.address_size);
  // A relative start that was never relocated: the linker threw the function away.
  return fde.begin != 0 || (cie.pointer_encoding & pointer_encoding::kBaseMask) == 0;
}

}  // namespace

bool read_entry(const FrameEntries& entries, std::uint64_t place, FrameEntry& entry) {
  ByteCursor cursor(entries.bytes, place);
  const auto short_length = cursor.take<std::uint32_t>();
  const bool is_long = short_length == kLongForm;
  const std::uint64_t length = is_long ? cursor.take<std::uint64_t>() : short_length;
  const std::uint64_t id_place = cursor.place();
  if (!cursor.ok() || length > entries.bytes.size - id_place) {
    return false;
  }
  entry = {.place = place, .next = id_place + length, .is_terminator = length == 0};
  if (entry.is_terminator) {
    return true;
  }
  // LSB: the id in .eh_frame has 4 bytes even behind a long length, and an FDE's counts back from
  // itself; in .debug_frame it has the size of the format and counts from the section's start.
  const std::uint64_t id =
      is_long && entries.debug ? cursor.take<std::uint64_t>() : cursor.take<std::uint32_t>();
  entry.body = cursor.place();
  entry.is_cie = id == (entries.debug ? (is_long ? kLongDebugCie : kDebugCie) : 0);
  entry.cie = entries.debug ? id : id_place - id;  // wraps when wrong: there is no entry then
  return cursor.ok() && entry.body <= entry.next;
}

bool read_cie(const FrameEntries& entries, const FrameEntry& entry, Cie& cie) {
  if (!entry.is_cie) {
    return false;
  }
  ByteCursor cursor = body_of(entries, entry);
  const unsigned version = cursor.take<std::uint8_t>();
  const ByteSpan letters = letters_of(cursor);
  cie = {.address_size = static_cast<std::uint8_t>(entries.word_size)};
  if (version >= 4) {
    cie.address_size = cursor.take<std::uint8_t>();
    cie.segment_selector_size = cursor.take<std::uint8_t>();
  }
  if (is_old(letters)) {
    cursor.skip(entries.word_size);
  }
  cie.code_alignment = cursor.uleb();
  cie.data_alignment = cursor.sleb();
  cie.context = {entries.text, entries.data, cie.address_size};
  cie.return_address = version == 1 ? cursor.take<std::uint8_t>() : cursor.uleb();
  const bool known_version = version == 1 || version == 3 || version == 4;
  if (!cursor.ok() || !known_version || !is_address_size(cie.address_size) ||
      !read_augmentation(cursor, letters, cie)) {
    return false;
  }
  cie.instructions = cursor.rest();
  return true;
}

bool read_fde(const FrameEntries& entries, const FrameEntry& entry, const Cie& cie,
              FrameDescription& fde) {
  ByteCursor cursor = body_of(entries, entry);
  if (!entry.is_fde() || !read_code(entries, cie, cursor, fde)) {
    return false;
  }
  fde.augmentation = cie.has_augmentation_data ? cursor.block(cursor.uleb()) : ByteSpan{};
  fde.instructions = cursor.rest();
  return cursor.ok();
}

bool read_range(const FrameEntries& entries, const FrameEntry& entry, const Cie& cie,
                FrameDescription& fde) {
  ByteCursor cursor = body_of(entries, entry);
  if (!entry.is_fde() || !read_code(entries, cie, cursor, fde)) {
    return false;
  }
  if (cie.has_augmentation_data) {
    cursor.skip(cursor.uleb());
  }
  return cursor.ok();
}

// The pointer is null in the FDEs of functions that catch and clean up nothing.
std::uint64_t exception_table_of(const Cie& cie, const FrameDescription& fde) {
  const unsigned encoding = cie.exception_table_encoding;
  if (encoding == pointer_encoding::kOmit || (encoding & pointer_encoding::kIndirect) != 0) {
    return 0;
  }
  std::uint64_t table = 0;
  ByteCursor data(fde.augmentation);
  return read_pointer(data, encoding, cie.context, table) ? table : 0;
}

bool read_description(const FrameEntries& entries, std::uint64_t place, WholeDescription& found) {
  FrameEntry entry;
  FrameEntry cie;
  return read_entry(entries, place, entry) && entry.is_fde() &&
         read_entry(entries, entry.cie, cie) && read_cie(entries, cie, found.cie) &&
         read_fde(entries, entry, found.cie, found.fde);
}

}  // namespace whocall::rules
