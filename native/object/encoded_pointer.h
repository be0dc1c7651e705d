// Encoded pointers (rules/pointer_encoding.h) in a view of a file.
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "base/byte_reader.h"
#include "rules/pointer_encoding.h"

namespace whocall {

namespace pointer_encoding = rules::pointer_encoding;

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
