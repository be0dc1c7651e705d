#include "process/modules/loaded_elf.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "object/elf_header.h"

namespace whocall {
namespace {

constexpr std::size_t kHeaderPage = 4096;        // bytes; program headers beyond are not seen
constexpr std::size_t kMostHeaders = 1024;       // bytes; where more are needed, the page is read
constexpr std::uint64_t kNoteLimit = 64 * 1024;  // bytes of one PT_NOTE segment

bool has_magic(const Memory& memory, Address header) {
  std::array<std::byte, SELFMAG> magic{};
  return memory.read(header, magic) == SELFMAG && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

// The file's header and the program headers behind it: mostly the first few hundred bytes.
std::vector<std::byte> headers_at(const Memory& memory, Address header, const Architecture& arch) {
  std::vector<std::byte> bytes(kMostHeaders);
  bytes.resize(memory.read(header, bytes));
  const ElfHeader elf = parse_elf_header(ByteView(bytes, arch.abi.endian), "ELF header in memory");
  const std::uint64_t end = elf.segments_offset + (elf.segment_count + 1) * elf.segment_stride;
  if (end > bytes.size() && bytes.size() == kMostHeaders) {
    bytes.resize(kHeaderPage);
    bytes.resize(memory.read(header, bytes));
  }
  return bytes;
}

// The segment that the file's first page belongs to, else the first one loaded.
const ElfSegment* segment_of_header(std::span<const ElfSegment> segments) {
  const auto found = std::ranges::find_if(segments, [](const ElfSegment& segment) {
    return segment.type == PT_LOAD && segment.offset < kHeaderPage && segment.file_size > 0;
  });
  return found != segments.end() ? &*found : segment_of_type(segments, PT_LOAD);
}

}  // namespace

const ElfSegment* segment_of_type(std::span<const ElfSegment> segments, std::uint32_t type) {
  const auto found = std::ranges::find(segments, type, &ElfSegment::type);
  return found == segments.end() ? nullptr : &*found;
}

std::optional<LoadedElf> read_loaded_elf(const Memory& memory, Address header,
                                         const Architecture& arch) {
  if (!has_magic(memory, header)) {
    return std::nullopt;
  }
  try {
    const std::vector<std::byte> page = headers_at(memory, header, arch);
    const ByteView bytes(page, arch.abi.endian);
    const ElfHeader elf = parse_elf_header(bytes, "ELF header in memory");
    if (!arch.abi.is_of(elf.identity)) {
      return std::nullopt;
    }
    LoadedElf image;
    image.header = header;
    image.type = elf.type;
    image.entry = elf.entry;
    image.program_headers = header + elf.segments_offset;
    image.segments = parse_segments(bytes, elf);
    const ElfSegment* first = segment_of_header(image.segments);
    if (first == nullptr) {
      return std::nullopt;
    }
    image.bias = header - (first->address - first->offset);
    return image;
  } catch (const Error&) {
    return std::nullopt;  // four bytes that look like the magic, and nothing behind them
  }
}

AddressRange loaded_range(std::span<const ElfSegment> segments, Address bias) {
  AddressRange range;
  bool any = false;
  for (const ElfSegment& segment : segments) {
    if (segment.type != PT_LOAD || segment.memory_size == 0) {
      continue;
    }
    const Address begin = segment.address + bias;
    if (segment.memory_size > std::numeric_limits<Address>::max() - begin) {
      return {};
    }
    const Address end = begin + segment.memory_size;
    range.begin = any ? std::min(range.begin, begin) : begin;
    range.end = any ? std::max(range.end, end) : end;
    any = true;
  }
  return range;
}

bool same_layout(const ElfFile& file, const LoadedElf& image) {
  const auto loads = [](std::span<const ElfSegment> segments) {
    std::vector<std::array<std::uint64_t, 3>> result;
    for (const ElfSegment& segment : segments) {
      if (segment.type == PT_LOAD) {
        result.push_back({segment.address, segment.memory_size, segment.flags});
      }
    }
    return result;
  };
  return loads(file.segments()) == loads(image.segments) && file.entry() == image.entry;
}

std::string build_id_in_memory(const Memory& memory, std::span<const ElfSegment> segments,
                               Address bias, const Architecture& arch) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kMostNotes = 16;  // segments of them; linkers write two or three
  std::size_t seen = 0;
  for (const ElfSegment& segment : segments) {
    if (segment.type != PT_NOTE || segment.memory_size == 0) {
      continue;
    }
    if (++seen > kMostNotes) {
      break;
    }
    std::vector<std::byte> area(std::min(segment.memory_size, kNoteLimit));
    area.resize(memory.read(segment.address + bias, area));
    for (const ElfNote& note : parse_notes(ByteView(area, arch.abi.endian), segment.alignment)) {
      if (note.owner != "GNU" || note.type != NT_GNU_BUILD_ID) {
        continue;
      }
      std::string id;
      for (const std::byte byte : note.contents.bytes()) {
        id += kDigits[std::to_integer<unsigned>(byte) >> 4U];
        id += kDigits[std::to_integer<unsigned>(byte) & 0xfU];
      }
      return id;
    }
  }
  return {};
}

}  // namespace whocall
