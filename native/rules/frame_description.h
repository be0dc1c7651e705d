// The entries of .eh_frame and .debug_frame, CIEs and FDEs, in memory that the caller has.
// Source: Linux Standard Base Core, "Exception Frames"; DWARF 5, 6.4.1.
#pragma once

#include <cstdint>

#include "rules/byte_cursor.h"
#include "rules/pointer_encoding.h"

namespace whocall::rules {

// Entries, and how they are written.
struct FrameEntries {
  ByteSpan bytes;          // the section, or what is loaded around it; .debug_frame begins at 0
  unsigned word_size = 8;  // bytes of an address: 4 or 8
  bool debug = false;      // .debug_frame
  std::uint64_t text = 0;  // what encoded pointers may be relative to, as in PointerContext
  std::uint64_t data = 0;
};

// Lengths, ids and references as they stand, before anything is decoded. Places are bytes from the
// beginning of `FrameEntries::bytes`.
struct FrameEntry {
  std::uint64_t place = 0;
  std::uint64_t next = 0;  // place of the entry that follows
  std::uint64_t body = 0;  // place of the first byte behind the id
  std::uint64_t cie = 0;   // place of an FDE's CIE
  bool is_cie = false;
  bool is_terminator = false;  // a length of zero

  [[nodiscard]] bool is_fde() const { return !is_cie && !is_terminator; }
};

// What a CIE says for all its FDEs.
struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_address = 0;        // column
  std::uint8_t address_size = 8;           // bytes
  std::uint8_t segment_selector_size = 0;  // bytes before an FDE's address; not 0 only in theory
  std::uint8_t pointer_encoding = 0;       // DW_EH_PE_* of the FDE's addresses
  // DW_EH_PE_* of the FDE's pointer to its exception table; kOmit: it has none.
  std::uint8_t exception_table_encoding = pointer_encoding::kOmit;
  bool has_augmentation_data = false;
  bool signal_frame = false;           // augmentation 'S'
  bool signed_return_address = false;  // AArch64 'B': the B key signs
  PointerContext context{};            // what encoded pointers in the entry and its FDEs lean on
  ByteSpan instructions{};
};

// What an FDE says for itself.
struct FrameDescription {
  std::uint64_t begin = 0;  // of the code that it covers
  std::uint64_t end = 0;
  ByteSpan augmentation;  // the data of its CIE's letters
  ByteSpan instructions;
};

// An FDE with its CIE.
struct WholeDescription {
  Cie cie;
  FrameDescription fde;
};

// False where the entry does not lie inside.
bool read_entry(const FrameEntries& entries, std::uint64_t place, FrameEntry& entry);

// Decode an entry. False where it is of the other kind or damaged.
bool read_cie(const FrameEntries& entries, const FrameEntry& entry, Cie& cie);
bool read_fde(const FrameEntries& entries, const FrameEntry& entry, const Cie& cie,
              FrameDescription& fde);

// Of an FDE only what it covers.
bool read_range(const FrameEntries& entries, const FrameEntry& entry, const Cie& cie,
                FrameDescription& fde);

// The address of an FDE's exception table (.gcc_except_table); 0: none.
std::uint64_t exception_table_of(const Cie& cie, const FrameDescription& fde);

// The FDE that stands at `place`, with its CIE. False where none does, or where one is damaged.
bool read_description(const FrameEntries& entries, std::uint64_t place, WholeDescription& found);

// Whether the addresses in the FDEs of a CIE are as linkers write them today for 64-bit code.
inline bool is_plain(const FrameEntries& entries, const Cie& cie) {
  using pointer_encoding::kPcRelative;
  using pointer_encoding::kSdata4;
  return cie.pointer_encoding == (kPcRelative | kSdata4) && cie.address_size == 8 &&
         !entries.bytes.swapped && !entries.debug;
}

// Where code ends: `begin + size` may reach the top of the address space, but not wrap past it.
inline std::uint64_t end_of_code(std::uint64_t begin, std::uint64_t size, unsigned address_size) {
  const std::uint64_t top =
      address_size >= 8 ? ~std::uint64_t{0} : std::uint64_t{1} << (8 * address_size);
  return size > top - begin ? top : begin + size;
}

}  // namespace whocall::rules
