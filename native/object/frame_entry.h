// The entries of an unwind section, decoded: CIEs and FDEs.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/byte_reader.h"
#include "base/byte_view.h"
#include "object/pointer_encoding.h"

namespace whocall {

enum class FrameFormat : std::uint8_t { eh_frame, debug_frame };

struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  Register return_address = 0;  // column
  std::uint8_t address_size = 8;
  std::uint8_t segment_selector_size = 0;  // bytes before an FDE's address; not 0 only in theory
  std::uint8_t pointer_encoding = 0;       // DW_EH_PE_* of the FDE's addresses
  // DW_EH_PE_* of the FDE's pointer to its exception table; kOmit: it has none.
  std::uint8_t exception_table_encoding = pointer_encoding::kOmit;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  bool signed_return_address = false;  // AArch64 'B': the B key signs
  PointerBases bases;                  // what encoded pointers in the entry and its FDEs lean on
  ByteView instructions;
};

struct Fde {
  AddressRange range;  // link addresses
  const Cie* cie = nullptr;
  ByteView instructions;
  std::uint64_t offset = 0;  // of the entry in its section, bytes
  // Link address of the first byte of `instructions`: an operand of DW_CFA_set_loc may be relative
  // to where it stands (see read_location).
  Address instructions_address = 0;
  // Link address of the exception table (.gcc_except_table), see object/exception_table.h.
  std::optional<Address> exception_table{};
};

}  // namespace whocall
