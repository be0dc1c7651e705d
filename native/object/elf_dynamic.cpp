#include "object/elf_dynamic.h"

#include <elf.h>

#include "base/byte_reader.h"

namespace whocall {
namespace {

// No linker writes nearly as many entries; a hostile table ends here.
constexpr std::size_t kMostEntries = 1 << 16;

ByteView dynamic_bytes(const ElfFile& file) {
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_DYNAMIC) {
      const auto bytes = file.bytes().slice(segment.offset, segment.file_size);
      return bytes ? *bytes : ByteView();
    }
  }
  const ElfSection* section = file.section(".dynamic");
  return section == nullptr ? ByteView() : file.contents(*section).value_or(ByteView());
}

}  // namespace

ElfDynamic::ElfDynamic(const ElfFile& file) : file_(file) {
  ByteReader reader(dynamic_bytes(file));
  while (!reader.at_end() && entries_.size() < kMostEntries) {
    const std::uint64_t tag = reader.fixed(file.pointer_size());
    const std::uint64_t value = reader.fixed(file.pointer_size());
    if (!reader.ok() || tag == DT_NULL) {
      return;
    }
    entries_.push_back({tag, value});
  }
}

std::optional<std::uint64_t> ElfDynamic::value(std::uint64_t tag) const {
  for (const Entry& entry : entries_) {
    if (entry.tag == tag) {
      return entry.value;
    }
  }
  return std::nullopt;
}

ByteView ElfDynamic::strings() const {
  const auto table = value(DT_STRTAB);
  if (!table) {
    return {};
  }
  const ByteView bytes = file_.at(*table);
  const auto size = value(DT_STRSZ);
  return size && *size < bytes.size() ? *bytes.slice(0, *size) : bytes;
}

std::optional<std::string_view> ElfDynamic::string(std::uint64_t offset) const {
  return strings().c_string(offset);
}

std::string soname_of(const ElfFile& file) {
  const ElfDynamic dynamic(file);
  constexpr std::size_t kLongest = 4096;  // a path's; of a longer name nothing is kept
  const auto offset = dynamic.value(DT_SONAME);
  const auto name = offset ? dynamic.string(*offset) : std::nullopt;
  return name && name->size() < kLongest ? std::string(*name) : std::string();
}

}  // namespace whocall
