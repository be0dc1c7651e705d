// Notes: small typed records that the linker and the kernel leave in ELF files.
#include <elf.h>

#include "base/byte_reader.h"
#include "base/interrupt.h"
#include "object/elf_file.h"

namespace whocall {
namespace {

constexpr std::uint64_t align_up(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::string_view owner_in(ByteView name) {
  std::string_view text(reinterpret_cast<const char*>(name.bytes().data()), name.size());
  while (!text.empty() && text.back() == '\0') {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

std::vector<ElfNote> parse_notes(ByteView area, std::uint64_t alignment, Budget& budget) {
  // gABI says 8 for 64-bit files, all tools write 4; only GNU properties are truly aligned to 8.
  alignment = alignment == 8 ? 8 : 4;
  std::vector<ElfNote> notes;
  std::uint64_t offset = 0;
  if (!budget.draw(Cost::note_bytes, area.size())) {
    return notes;
  }
  while (offset < area.size()) {
    ByteReader reader(area, offset);
    const std::uint32_t name_size = reader.u32();
    const std::uint32_t contents_size = reader.u32();
    ElfNote note;
    note.type = reader.u32();
    check_interrupt_at(notes.size(), kManyEntries);
    if (note.type == 0 && name_size == 0 && contents_size == 0) {
      break;  // a hole in a file, of gigabytes even: nobody writes such a note
    }
    note.owner = owner_in(reader.block(name_size));
    const std::uint64_t contents_offset = align_up(offset + 12 + name_size, alignment);
    const auto contents = area.slice(contents_offset, contents_size);
    if (!reader.ok() || !contents || !budget.draw(Cost::notes, 1)) {
      break;  // cut off: what stood before it is still good
    }
    note.contents = *contents;
    notes.push_back(note);
    offset = align_up(contents_offset + contents_size, alignment);
  }
  return notes;
}

std::vector<ElfNote> parse_notes(ByteView area, std::uint64_t alignment) {
  Budget budget("A note", area.size());
  return parse_notes(area, alignment, budget);
}

std::string find_build_id(const ElfFile& file) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (const ElfNote& note : file.notes()) {
    if (note.owner == ELF_NOTE_GNU && note.type == NT_GNU_BUILD_ID) {
      for (const std::byte byte : note.contents.bytes()) {
        id += kDigits[std::to_integer<unsigned>(byte) >> 4U];
        id += kDigits[std::to_integer<unsigned>(byte) & 15U];
      }
      break;
    }
  }
  return id;
}

}  // namespace whocall
