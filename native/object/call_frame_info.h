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
#include "object/frame_entry.h"

namespace whocall {

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
  using Format = FrameFormat;

  // `header` is .eh_frame_hdr, if any. The file must outlive the object.
  CallFrameInfo(Format format, LoadedPart section, std::optional<LoadedPart> header,
                unsigned pointer_size, FrameContext context = {});
  // The sections of a file; null when it has none. The file, which has them open as
  // eh_frame_of() and debug_frame_of(), must outlive the object.
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

// What stands in a file's sections, opened when first asked for and kept with the file, as many
// want to know; null where there is no such part, or a .debug_frame is stale (stale_frames.h).
const CallFrameInfo* eh_frame_of(const ElfFile& file);
const CallFrameInfo* debug_frame_of(const ElfFile& file);

}  // namespace whocall
