// Pointers as .eh_frame and .eh_frame_hdr write them: DW_EH_PE_* of the Linux Standard Base, Core,
// "DWARF Exception Header Encoding".
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "base/byte_reader.h"

namespace whocall {

namespace pointer_encoding {
// How the value is written (low four bits) ...
inline constexpr std::uint8_t kAbsolute = 0x00;
inline constexpr std::uint8_t kUleb = 0x01;
inline constexpr std::uint8_t kUdata2 = 0x02;
inline constexpr std::uint8_t kUdata4 = 0x03;
inline constexpr std::uint8_t kUdata8 = 0x04;
inline constexpr std::uint8_t kSigned = 0x08;
inline constexpr std::uint8_t kSleb = 0x09;
inline constexpr std::uint8_t kSdata2 = 0x0a;
inline constexpr std::uint8_t kSdata4 = 0x0b;
inline constexpr std::uint8_t kSdata8 = 0x0c;
inline constexpr std::uint8_t kFormatMask = 0x0f;
// ... what is added to it ...
inline constexpr std::uint8_t kPcRelative = 0x10;
inline constexpr std::uint8_t kTextRelative = 0x20;
inline constexpr std::uint8_t kDataRelative = 0x30;
inline constexpr std::uint8_t kFunctionRelative = 0x40;
inline constexpr std::uint8_t kAligned = 0x50;
inline constexpr std::uint8_t kBaseMask = 0x70;
// ... and whether that is the address of the pointer rather than the pointer.
inline constexpr std::uint8_t kIndirect = 0x80;
inline constexpr std::uint8_t kOmit = 0xff;
}  // namespace pointer_encoding

// What encoded pointers are relative to: link addresses.
struct PointerBases {
  Address section = 0;        // of the reader's offset 0
  Address text = 0;           // start of .text
  Address data = 0;           // the GOT for .eh_frame, the header itself for .eh_frame_hdr
  unsigned pointer_size = 8;  // bytes
};

// Reads one pointer and leaves the reader behind it, wrapped to the pointer size. A miss when the
// encoding is unknown or the bytes end (then the reader has failed), and for an indirect pointer
// whose word does not lie in the same section.
std::optional<Address> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                            const PointerBases& bases);

}  // namespace whocall
