// The unwind tables that one JIT object brings.
#pragma once

#include <memory>
#include <vector>

#include "process/jit/jit_objects.h"
#include "unwind/rows/compiled_frames.h"

namespace whocall {

// Folklore. Situation: compilers register the object file as it was before or after they put its
// parts in place, or a copy in between. Example: LLVM sets the addresses of the sections and leaves
// .eh_frame without its relocations, which it applied to the copy that exceptions use; qemu writes
// .debug_frame with absolute addresses. Remedy: of the section as it stands in the file, the same
// relocated, and what memory has at the section's address, believe the one most of whose FDEs cover
// the object's own code, and of that these FDEs only.
class JitFrames {
 public:
  // Both must outlive the object.
  JitFrames(const JitObject& object, const ProcessImage& process);

  // As CompiledFrames; a row of a whole buffer of code tells of no function.
  CfiRow at(Address runtime);
  bool covers(Address runtime);

 private:
  using Format = CallFrameInfo::Format;
  void add(Format format, const ElfSection& section);
  void consider(Format format, const LoadedPart& part);
  [[nodiscard]] bool is_own(const AddressRange& function) const;

  const JitObject& object_;
  const ProcessImage& process_;
  std::vector<std::vector<std::byte>> bytes_;  // that the tables stand on
  std::unique_ptr<const CallFrameInfo> best_;  // while a section is looked at
  std::size_t best_count_ = 0;
  std::vector<std::unique_ptr<const CallFrameInfo>> tables_;
  CompiledFrames frames_;
};

}  // namespace whocall
