// What a relocation of an object file lets the linker write into the code, and what that tells.
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// How the symbol's address S follows from the value V that the linker wrote at P; A is the addend.
enum class RelocationKind : std::uint8_t {
  opaque,        // nothing follows: thread-local storage, no operation
  pc_relative,   // S = P + V - A
  branch,        // the same in a call or a jump: S is code
  branch_field,  // in a call or a jump, V being a field of it: Linkage::got_target tells S
  absolute,      // S = V - A
  got_slot,      // V leads to the word that holds S, or, where the linker has relaxed it, to S
  got_offset,    // S = GOT + V - A
  got_base,      // GOT = P + V - A
};

// One type of relocation. Bytes count from the place that the relocation names.
struct RelocationForm {
  std::uint32_t type = 0;  // R_*
  std::uint8_t size = 4;   // of the value, bytes
  // The linker may write anything into [first, last): relaxing rewrites whole instructions.
  std::int8_t first = 0;
  std::int8_t last = 4;
  RelocationKind kind = RelocationKind::opaque;
};

// A place in linked code that had a relocation.
struct RelocatedPlace {
  ByteView code;             // from the beginning of the section's code
  Address address = 0;       // link address of its first byte
  std::uint64_t offset = 0;  // of the relocation, bytes
  std::int64_t addend = 0;   // where the place itself holds it, what it held: a whole instruction
  std::optional<Address> got{};  // the global offset table, where it is known
  std::uint32_t type = 0;        // R_*
};

// Where a place leads: to the symbol itself, or to the word that holds its address.
struct RelocatedTarget {
  std::optional<Address> symbol{};
  std::optional<Address> slot{};
};

}  // namespace whocall
