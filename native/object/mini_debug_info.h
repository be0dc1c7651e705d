// The ELF image that some distributions and Android leave packed in a stripped file's section
// .gnu_debugdata ("MiniDebugInfo" in gdb's manual): its .symtab, and on Android its .debug_frame.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "object/call_frame_info.h"
#include "object/elf_file.h"

namespace whocall {

struct MiniDebugInfo {
  std::shared_ptr<const ElfFile> file;  // null when there is none
  std::string remark;                   // why one that is there cannot be used, a sentence
};

// Unpacked when first asked for, and kept with the file.
const MiniDebugInfo& mini_debug_info_of(const ElfFile& file);

// The .debug_frame in there; null where there is none.
const CallFrameInfo* packed_debug_frame_of(const ElfFile& file);

// All that a file holds by itself: .eh_frame, .debug_frame and the packed one; null likewise.
std::array<const CallFrameInfo*, 3> frame_tables_of(const ElfFile& file);

}  // namespace whocall
