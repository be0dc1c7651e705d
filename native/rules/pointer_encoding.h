// Pointers as .eh_frame and .eh_frame_hdr write them: DW_EH_PE_* of the Linux Standard Base, Core,
// "DWARF Exception Header Encoding".
#pragma once

#include <cstdint>

#include "rules/byte_cursor.h"

namespace whocall::rules {

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

// What encoded pointers are relative to, beside where they stand; 0: nobody knows.
struct PointerContext {
  std::uint64_t text = 0;  // start of .text
  std::uint64_t data = 0;  // the GOT for .eh_frame, the header itself for .eh_frame_hdr
  unsigned word_size = 8;  // bytes of an address
};

// Reads one pointer and leaves the cursor behind it, wrapped to the size of an address. False where
// the encoding or what it is relative to is unknown or the bytes end, and for an indirect pointer
// whose word does not lie in the same span.
bool read_pointer(ByteCursor& cursor, unsigned encoding, const PointerContext& context,
                  std::uint64_t& value);

// Leaves the cursor behind a pointer that nobody wants. False where its size is unknown.
bool skip_pointer(ByteCursor& cursor, unsigned encoding, const PointerContext& context);

}  // namespace whocall::rules
