// .gnu_debuglink: the name of a separate debug file and the check sum of its contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_view.h"
#include "object/elf_file.h"

namespace whocall {

struct DebugLink {
  std::string name;       // without a directory
  std::uint32_t crc = 0;  // of the whole debug file
};

// gdb's manual, "Separate Debug Files": the name with its NUL, padding to 4 bytes, the CRC in the
// file's byte order. A miss when there is no such section, when it is cut off, and when the name
// is empty or holds a directory.
std::optional<DebugLink> debug_link_of(const ElfFile& file);

// The CRC-32 that debug links hold (that of zlib).
std::uint32_t debug_link_crc(ByteView contents);

}  // namespace whocall
