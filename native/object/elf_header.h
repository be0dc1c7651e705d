// The tables that an ELF file begins with, decoded for either class and byte order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/abi.h"
#include "base/address.h"
#include "base/byte_view.h"
#include "object/elf_parts.h"

namespace whocall {

struct ElfHeader {
  ElfIdentity identity;
  std::uint16_t type = 0;
  Address entry = 0;
  // Places and counts of the tables, the extended numbering already resolved, all bounded by the
  // file's size.
  std::uint64_t segments_offset = 0;
  std::uint64_t segment_stride = 0;
  std::uint64_t segment_count = 0;
  std::uint64_t sections_offset = 0;
  std::uint64_t section_stride = 0;
  std::uint64_t section_count = 0;
  std::uint64_t section_names = 0;  // index of the section that holds the names
  std::string damage;               // what of the tables lies outside the file; empty when nothing
};

// Throws Error when `bytes` do not begin with a usable ELF header.
ElfHeader parse_elf_header(ByteView bytes, const std::string& path);
std::vector<ElfSegment> parse_segments(ByteView bytes, const ElfHeader& header);
// Names are views into `bytes`.
std::vector<ElfSection> parse_sections(ByteView bytes, const ElfHeader& header);

// A sentence on bytes that segments (of a core) or sections claim and the file lacks; empty when
// none are missing.
std::string missing_bytes(ByteView bytes, const ElfHeader& header,
                          const std::vector<ElfSegment>& segments,
                          const std::vector<ElfSection>& sections);

}  // namespace whocall
