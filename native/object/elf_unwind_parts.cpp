// Where in an ELF file the unwind tables lie.
#include <elf.h>

#include "base/byte_reader.h"
#include "object/elf_file.h"
#include "object/encoded_pointer.h"

namespace whocall {
namespace {

// .eh_frame from its header's second field. Without section headers nobody says where it ends: at
// the terminator (a length of zero) or the end of the segment, whichever comes first.
std::optional<LoadedPart> eh_frame_behind(const ElfFile& file, const LoadedPart& header) {
  ByteReader reader(header.bytes);
  const std::uint8_t version = reader.u8();
  const std::uint8_t encoding = reader.u8();
  reader.skip(2);  // encodings of the count and of the table
  const PointerBases bases{header.address, 0, header.address, file.pointer_size()};
  const auto start = read_encoded_pointer(reader, encoding, bases);
  if (version != 1 || !start) {
    return std::nullopt;
  }
  const ByteView bytes = file.at(*start);
  ByteReader entries(bytes);
  while (!entries.at_end()) {
    const std::uint32_t length = entries.u32();
    if (length == 0 || !entries.ok()) {
      break;
    }
    entries.skip(length == 0xffffffffU ? entries.u64() : length);
  }
  const auto whole = bytes.slice(0, entries.offset());
  return whole && !whole->empty() ? std::optional(LoadedPart{*whole, *start}) : std::nullopt;
}

std::optional<LoadedPart> part_in(const ElfFile& file, const ElfSection& section) {
  const auto bytes = file.contents(section);
  return bytes ? std::optional(LoadedPart{*bytes, section.address}) : std::nullopt;
}

}  // namespace

std::optional<LoadedPart> ElfFile::eh_frame_hdr() const {
  if (const ElfSection* found = section(".eh_frame_hdr")) {
    return part_in(*this, *found);
  }
  for (const ElfSegment& segment : segments()) {
    if (segment.type == PT_GNU_EH_FRAME) {
      const auto part = bytes().slice(segment.offset, segment.file_size);
      return part ? std::optional(LoadedPart{*part, segment.address}) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<LoadedPart> ElfFile::eh_frame() const {
  if (const ElfSection* found = section(".eh_frame")) {
    return part_in(*this, *found);
  }
  const auto header = eh_frame_hdr();
  return header ? eh_frame_behind(*this, *header) : std::nullopt;
}

std::optional<LoadedPart> ElfFile::debug_frame() const {
  const ElfSection* found = section(".debug_frame");
  if (found == nullptr) {
    found = section(".zdebug_frame");
  }
  const auto bytes = found == nullptr ? std::nullopt : contents(*found);
  return bytes ? std::optional(LoadedPart{*bytes, 0}) : std::nullopt;
}

}  // namespace whocall
