#include "object/frame_entries.h"

#include <bit>
#include <limits>
#include <utility>

namespace whocall {
namespace {

constexpr std::uint32_t kLongForm = 0xffffffffU;  // DWARF 5, section 7.4: a 64-bit length follows
constexpr std::uint64_t kCieId32 = 0xffffffffU;
constexpr std::uint64_t kCieId64 = ~std::uint64_t{0};

bool is_address_size(std::uint8_t size) { return size == 2 || size == 4 || size == 8; }

}  // namespace

// `begin + size` may reach the top of the address space, but not wrap past it.
AddressRange FrameEntries::range_from(Address begin, std::uint64_t size, unsigned address_size) {
  const Address top =
      address_size >= 8 ? std::numeric_limits<Address>::max() : Address{1} << (8 * address_size);
  return {begin, size > top - begin ? top : begin + size};
}

std::optional<FrameEntries::Entry> FrameEntries::entry_at(std::uint64_t offset) const {
  ByteReader reader(section_, offset);
  Entry entry;
  entry.offset = offset;
  const std::uint32_t short_length = reader.u32();
  const bool is_long = short_length == kLongForm;
  const std::uint64_t length = is_long ? reader.u64() : short_length;
  if (!reader.ok() || length > reader.remaining()) {
    return std::nullopt;
  }
  const std::uint64_t id_offset = reader.offset();
  entry.next = id_offset + length;
  if (length == 0) {
    entry.is_terminator = true;
    return entry;
  }
  // LSB: the id in .eh_frame has 4 bytes even behind a long length, and an FDE's counts back from
  // itself; in .debug_frame it has the size of the format and counts from the section's start.
  const bool eh_frame = format_ == FrameFormat::eh_frame;
  const std::uint64_t id = is_long && !eh_frame ? reader.u64() : reader.u32();
  entry.body = reader.offset();
  if (!reader.ok() || entry.body > entry.next) {
    return std::nullopt;
  }
  entry.is_cie = eh_frame ? id == 0 : id == (is_long ? kCieId64 : kCieId32);
  entry.cie = eh_frame ? id_offset - id : id;  // wraps when wrong; entry_at() then misses
  return entry;
}

std::uint64_t FrameEntries::count_fdes() const {
  std::uint64_t count = 0;
  for (std::uint64_t offset = 0; offset < section_.size();) {
    const auto entry = entry_at(offset);
    if (!entry) {
      break;
    }
    offset = entry->next;
    if (entry->is_fde()) {
      ++count;
      offset = for_each_plain_range(offset, entry->cie, [&](const AddressRange&) { ++count; });
    }
  }
  return count;
}

const Cie* FrameEntries::cie_at(std::uint64_t offset) const {
  if (const auto* last = last_.load(std::memory_order_acquire);
      last != nullptr && last->first == offset) {
    return last->second.get();
  }
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = cies_.try_emplace(offset);
  if (is_new) {
    const auto entry = entry_at(offset);
    if (entry && entry->is_cie) {
      found->second = decode_cie(*entry);
    }
  }
  last_.store(&*found, std::memory_order_release);  // complete, and it stays where it is
  return found->second.get();
}

std::unique_ptr<Cie> FrameEntries::decode_cie(const Entry& entry) const {
  ByteReader reader(*section_.slice(0, entry.next), entry.body);
  auto cie = std::make_unique<Cie>();
  const std::uint8_t version = reader.u8();
  std::string_view letters = reader.c_string();
  cie->address_size = static_cast<std::uint8_t>(bases_.pointer_size);
  if (version >= 4) {
    cie->address_size = reader.u8();
    cie->segment_selector_size = reader.u8();
  }
  if (letters == "eh") {  // GCC before 3.0: one pointer to its exception table
    reader.skip(bases_.pointer_size);
  }
  cie->code_alignment = reader.uleb();
  cie->data_alignment = reader.sleb();
  cie->bases = bases_;
  cie->bases.pointer_size = cie->address_size;
  const std::uint64_t return_address = version == 1 ? reader.u8() : reader.uleb();
  cie->return_address = static_cast<Register>(return_address);
  const bool known_version = version == 1 || version == 3 || version == 4;
  if (!reader.ok() || !known_version || !is_address_size(cie->address_size) ||
      return_address > std::numeric_limits<Register>::max() ||
      !read_augmentation(reader, letters, *cie)) {
    return nullptr;
  }
  cie->instructions = reader.view().from(reader.offset());
  return cie;
}

// LSB, "The Common Information Entry": with 'z', the data have a length, so letters that we do
// not know can be passed over; without it, they make the entry unreadable.
bool FrameEntries::read_augmentation(ByteReader& reader, std::string_view letters, Cie& cie) const {
  if (letters.empty() || letters == "eh" || letters.starts_with("armcc")) {
    return true;
  }
  const bool sized = letters.front() == 'z';
  cie.has_augmentation_data = sized;
  const std::uint64_t size = sized ? reader.uleb() : 0;
  const std::uint64_t end = sized ? reader.offset() + size : 0;
  if (size > reader.remaining()) {
    return false;
  }
  bool known = true;
  for (const char letter : letters.substr(sized ? 1 : 0)) {
    if (letter == 'R') {
      cie.pointer_encoding = reader.u8();
    } else if (letter == 'L') {
      cie.exception_table_encoding = reader.u8();
    } else if (letter == 'P') {
      const std::uint8_t encoding = reader.u8();
      // Only its length matters here; the word that it points to lies elsewhere.
      known =
          read_encoded_pointer(
              reader, encoding & static_cast<std::uint8_t>(~pointer_encoding::kIndirect), cie.bases)
              .has_value();
    } else if (letter == 'S') {
      cie.signal_frame = true;
    } else if (letter == 'B') {
      cie.signed_return_address = true;
    } else if (letter != 'G') {  // memory tagging, without data
      known = false;
    }
    if (!known) {
      break;
    }
  }
  if (sized) {
    reader.seek(end);
  }
  return reader.ok() && (known || sized);
}

// Whether the FDEs of the CIE are as linkers write them today for 64-bit code.
bool FrameEntries::is_plain(const Cie& cie) const {
  using pointer_encoding::kPcRelative;
  using pointer_encoding::kSdata4;
  const bool native =
      (section_.endian() == Endian::little) == (std::endian::native == std::endian::little);
  return cie.pointer_encoding == (kPcRelative | kSdata4) && cie.address_size == 8 && native &&
         format_ == FrameFormat::eh_frame;
}

std::optional<AddressRange> FrameEntries::read_range(ByteReader& reader, const Cie& cie) const {
  using pointer_encoding::kBaseMask;
  using pointer_encoding::kFormatMask;
  if (is_plain(cie)) {  // read without detours
    const Address field = bases_.section + reader.offset();
    const std::int64_t distance = reader.s32();
    const std::int64_t size = reader.s32();
    const Address begin = distance == 0 ? 0 : field + static_cast<Address>(distance);
    return begin != 0 && reader.ok()
               ? std::optional(range_from(begin, static_cast<std::uint64_t>(size), 8))
               : std::nullopt;
  }
  if (format_ == FrameFormat::debug_frame) {
    reader.skip(cie.segment_selector_size);
  }
  const auto begin = read_encoded_pointer(reader, cie.pointer_encoding, cie.bases);
  // The length has the format of the start, but is relative to nothing.
  const auto size = read_encoded_pointer(reader, cie.pointer_encoding & kFormatMask, cie.bases);
  if (!begin || !size) {
    return std::nullopt;
  }
  // A relative start that was never relocated: the linker threw the function away.
  if (*begin == 0 && (cie.pointer_encoding & kBaseMask) != 0) {
    return std::nullopt;
  }
  return range_from(*begin, *size, cie.address_size);
}

namespace {

// The pointer is null in the FDEs of functions that catch and clean up nothing.
std::optional<Address> read_exception_table(ByteReader reader, const Cie& cie, std::uint64_t size) {
  using pointer_encoding::kFormatMask;
  using pointer_encoding::kIndirect;
  using pointer_encoding::kOmit;
  const std::uint8_t encoding = cie.exception_table_encoding;
  if (encoding == kOmit || (encoding & kIndirect) != 0 || size > reader.remaining()) {
    return std::nullopt;
  }
  ByteReader plain = reader;
  const auto value = read_encoded_pointer(plain, encoding & kFormatMask, cie.bases);
  return value && *value != 0 ? read_encoded_pointer(reader, encoding, cie.bases) : std::nullopt;
}

}  // namespace

std::optional<Fde> FrameEntries::decode_fde(const Entry& entry) const {
  if (!entry.is_fde()) {
    return std::nullopt;
  }
  Fde fde;
  fde.cie = cie_at(entry.cie);
  fde.offset = entry.offset;
  if (fde.cie == nullptr) {
    return std::nullopt;
  }
  ByteReader reader(*section_.slice(0, entry.next), entry.body);
  const auto range = read_range(reader, *fde.cie);
  if (fde.cie->has_augmentation_data) {
    const std::uint64_t size = reader.uleb();
    fde.exception_table = read_exception_table(reader, *fde.cie, size);
    reader.skip(size);
  }
  if (!range || !reader.ok()) {
    return std::nullopt;
  }
  fde.range = *range;
  fde.instructions = reader.view().from(reader.offset());
  fde.instructions_address = bases_.section + reader.offset();
  return fde;
}

std::optional<AddressRange> FrameEntries::decode_range(const Entry& entry) const {
  const Cie* cie = entry.is_fde() ? cie_at(entry.cie) : nullptr;
  if (cie == nullptr) {
    return std::nullopt;
  }
  ByteReader reader(*section_.slice(0, entry.next), entry.body);
  const auto range = read_range(reader, *cie);
  if (cie->has_augmentation_data) {
    reader.skip(reader.uleb());
  }
  return reader.ok() ? range : std::nullopt;
}

std::optional<Address> read_location(ByteReader& code, const Fde& fde) {
  PointerBases bases = fde.cie->bases;
  bases.section = fde.instructions_address;
  bases.pointer_size = fde.cie->address_size;
  return read_encoded_pointer(code, fde.cie->pointer_encoding, bases);
}

}  // namespace whocall
