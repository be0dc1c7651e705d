#include "object/pointer_encoding.h"

namespace whocall {
namespace {

using pointer_encoding::kAbsolute;
using pointer_encoding::kAligned;
using pointer_encoding::kBaseMask;
using pointer_encoding::kDataRelative;
using pointer_encoding::kFormatMask;
using pointer_encoding::kIndirect;
using pointer_encoding::kPcRelative;
using pointer_encoding::kSdata2;
using pointer_encoding::kSdata4;
using pointer_encoding::kSdata8;
using pointer_encoding::kSigned;
using pointer_encoding::kSleb;
using pointer_encoding::kTextRelative;
using pointer_encoding::kUdata2;
using pointer_encoding::kUdata4;
using pointer_encoding::kUdata8;
using pointer_encoding::kUleb;

std::optional<std::uint64_t> read_value(ByteReader& reader, std::uint8_t format,
                                        unsigned pointer_size) {
  switch (format) {
    case kAbsolute:
    case kSigned:
      return reader.fixed(pointer_size);
    case kUleb:
      return reader.uleb();
    case kUdata2:
      return reader.u16();
    case kUdata4:
      return reader.u32();
    case kUdata8:
    case kSdata8:
      return reader.u64();
    case kSleb:
      return static_cast<std::uint64_t>(reader.sleb());
    case kSdata2:
      return static_cast<std::uint64_t>(reader.s16());
    case kSdata4:
      return static_cast<std::uint64_t>(reader.s32());
    default:
      return std::nullopt;
  }
}

std::optional<Address> base_of(std::uint8_t encoding, Address field, const PointerBases& bases) {
  switch (encoding & kBaseMask) {
    case 0:
    case kAligned:
      return 0;
    case kPcRelative:
      return field;
    case kTextRelative:
      return bases.text;
    case kDataRelative:
      return bases.data;
    default:
      return std::nullopt;  // function-relative never stands where we read
  }
}

Address wrap(Address address, unsigned pointer_size) {
  return pointer_size >= 8 ? address : address & ((std::uint64_t{1} << (8 * pointer_size)) - 1);
}

}  // namespace

std::optional<Address> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                            const PointerBases& bases) {
  if ((encoding & kBaseMask) == kAligned) {
    const std::uint64_t past = (bases.section + reader.offset()) % bases.pointer_size;
    reader.skip(past == 0 ? 0 : bases.pointer_size - past);
  }
  const Address field = bases.section + reader.offset();
  const auto value = read_value(reader, encoding & kFormatMask, bases.pointer_size);
  const auto base = base_of(encoding, field, bases);
  if (!value || !base || !reader.ok()) {
    return std::nullopt;
  }
  // A null pointer stays null whatever it is relative to, as in libgcc.
  const Address address = *value == 0 ? 0 : wrap(*base + *value, bases.pointer_size);
  if ((encoding & kIndirect) == 0) {
    return address;
  }
  return reader.view().read_unsigned(address - bases.section, bases.pointer_size);
}

}  // namespace whocall
