// The entries of an unwind section, decoded: CIEs and FDEs.
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "rules/frame_description.h"

namespace whocall {

enum class FrameFormat : std::uint8_t { eh_frame, debug_frame };

using rules::Cie;

struct Fde {
  AddressRange range;  // link addresses
  const Cie* cie = nullptr;
  rules::ByteSpan instructions;  // at their link address
  std::uint64_t offset = 0;      // of the entry in its section, bytes
  // Link address of the exception table (.gcc_except_table), see object/lsda.h.
  std::optional<Address> exception_table{};
};

}  // namespace whocall
