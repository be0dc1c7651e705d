// The entries of .eh_frame and .debug_frame: CIEs and FDEs, found and decoded, not yet compiled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/byte_reader.h"
#include "base/byte_view.h"
#include "object/elf_file.h"
#include "object/pointer_encoding.h"

namespace whocall {

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

// The operand of DW_CFA_set_loc in an FDE's instructions, at which `code`, a reader of just them,
// stands: in .eh_frame encoded as the FDE's own addresses are. A miss when it cannot be read.
std::optional<Address> read_location(ByteReader& code, const Fde& fde);

// What else of the file its unwind sections lean on: link addresses.
struct FrameContext {
  Address text = 0;  // base of text-relative pointers
  Address data = 0;  // base of data-relative pointers
  // FDEs that start outside are left out unless it is empty: linkers set the addresses of
  // functions that they threw away to 0, and such FDEs would cover what they do not know.
  AddressRange code;
};

// One unwind section. Finding an FDE goes through .eh_frame_hdr's sorted table where there is one
// and through an own sorted index, made at the first look-up, where there is none.
class CallFrameInfo {
 public:
  enum class Format : std::uint8_t { eh_frame, debug_frame };

  // `header` is .eh_frame_hdr, if any. The file must outlive the object.
  CallFrameInfo(Format format, LoadedPart section, std::optional<LoadedPart> header,
                unsigned pointer_size, FrameContext context = {});
  // The sections of a file; null when it has none. The file, which has them open as
  // eh_frame_entries() and debug_frame_entries(), must outlive the object.
  static std::unique_ptr<const CallFrameInfo> of_eh_frame(const ElfFile& file);
  static std::unique_ptr<const CallFrameInfo> of_debug_frame(const ElfFile& file);
  CallFrameInfo(const CallFrameInfo&) = delete;
  CallFrameInfo& operator=(const CallFrameInfo&) = delete;
  ~CallFrameInfo();

  // The FDE whose range holds `address` (link address); of several the one that starts nearest.
  [[nodiscard]] std::optional<Fde> find(Address address) const;
  // Every FDE in the order of the section, damaged ones left out.
  void for_each(const std::function<void(const Fde&)>& visit) const;
  // The ranges of the same, without empty ones.
  [[nodiscard]] std::vector<AddressRange> ranges() const;
  [[nodiscard]] Format format() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace whocall
