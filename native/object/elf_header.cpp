#include "object/elf_header.h"

#include <elf.h>

#include <algorithm>

#include "base/byte_reader.h"
#include "base/error.h"
#include "base/hex.h"
#include "object/range_index.h"

namespace whocall {
namespace {

bool has_magic(ByteView bytes) {
  return bytes.size() >= EI_NIDENT && std::memcmp(bytes.bytes().data(), ELFMAG, SELFMAG) == 0;
}

// The fields of e_ident decide how all others are read.
ElfHeader parse_ident(ByteView bytes, const std::string& path) {
  if (!has_magic(bytes)) {
    throw Error(path, "is not an ELF file", "Give an executable, a shared library or a core");
  }
  const auto file_class = static_cast<unsigned>(bytes.bytes()[EI_CLASS]);
  const auto encoding = static_cast<unsigned>(bytes.bytes()[EI_DATA]);
  if ((file_class != ELFCLASS32 && file_class != ELFCLASS64) ||
      (encoding != ELFDATA2LSB && encoding != ELFDATA2MSB)) {
    throw Error(path, "is an ELF file of an unknown class or byte order",
                "The file is damaged; fetch it again");
  }
  ElfHeader header;
  header.identity.pointer_size = file_class == ELFCLASS64 ? 8 : 4;
  header.identity.endian = encoding == ELFDATA2MSB ? Endian::big : Endian::little;
  return header;
}

struct SectionZero {
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
};

// gABI, "Section header table": with extended numbering, section 0 holds the true counts.
SectionZero read_section_zero(ByteView bytes, const ElfHeader& header) {
  const bool wide = header.identity.pointer_size == 8;
  ByteReader reader(bytes, header.sections_offset);
  reader.skip(wide ? 32 : 20);
  SectionZero zero;
  zero.size = reader.fixed(header.identity.pointer_size);
  zero.link = reader.u32();
  zero.info = reader.u32();
  return reader.ok() ? zero : SectionZero{};
}

// How many entries of a table can lie inside the file.
std::uint64_t fitting(ByteView bytes, std::uint64_t offset, std::uint64_t stride) {
  return offset >= bytes.size() || stride == 0 ? 0 : (bytes.size() - offset) / stride;
}

std::uint64_t segment_file_offset(ByteView bytes, const ElfHeader& header) {
  return header.identity.pointer_size == 8
             ? bytes.read<std::uint64_t>(header.segments_offset + 8).value_or(0)
             : bytes.read<std::uint32_t>(header.segments_offset + 4).value_or(0);
}

// Folklore: the kernel writes section 0, which holds the count when a core has 65,535 segments or
// more, at the end of the core, so a truncated core has lost it. The first segment's bytes (the
// notes) follow right after the table, which gives its length away.
std::uint64_t count_by_first_segment(ByteView bytes, const ElfHeader& header) {
  const std::uint64_t first = segment_file_offset(bytes, header);
  return first > header.segments_offset ? (first - header.segments_offset) / header.segment_stride
                                        : std::uint64_t{PN_XNUM};
}

void read_extended_counts(ByteView bytes, ElfHeader& header) {
  const bool wide = header.identity.pointer_size == 8;
  const bool has_sections =
      header.sections_offset != 0 &&
      header.section_stride >= (wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
  const SectionZero zero = has_sections ? read_section_zero(bytes, header) : SectionZero{};
  if (header.segment_stride < (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))) {
    header.segment_count = 0;
  }
  if (header.segment_count == PN_XNUM) {
    header.segment_count = zero.info != 0 ? zero.info : count_by_first_segment(bytes, header);
  }
  if (header.section_count == 0) {
    header.section_count = zero.size;
  }
  if (header.section_names == SHN_XINDEX) {
    header.section_names = zero.link;
  }
  const std::uint64_t segments = fitting(bytes, header.segments_offset, header.segment_stride);
  if (header.segment_count > segments) {
    header.damage = "the file ends at " + hex(bytes.size()) + ", inside its program headers: " +
                    std::to_string(header.segment_count - segments) + " of " +
                    std::to_string(header.segment_count) + " are missing";
    header.segment_count = segments;
  }
  const std::uint64_t sections =
      has_sections ? fitting(bytes, header.sections_offset, header.section_stride) : 0;
  if (has_sections && (sections == 0 || header.section_count > sections) && header.damage.empty()) {
    header.damage = "the file ends at " + hex(bytes.size()) +
                    ", its section headers lie beyond, at " + hex(header.sections_offset);
  }
  header.section_count = std::min(header.section_count, sections);
}

// Of a longer name only the beginning is looked at: 200,000 sections may share one of 32 MB.
constexpr std::size_t kLongestSectionName = 4096;

std::string_view section_name(const std::optional<ByteView>& names, std::uint32_t offset) {
  const ByteView rest = names ? names->from(offset) : ByteView();
  const std::size_t size = std::min(rest.size(), kLongestSectionName);
  const std::string_view text(reinterpret_cast<const char*>(rest.bytes().data()), size);
  const std::size_t end = text.find('\0');
  return end == std::string_view::npos && size == rest.size() ? std::string_view()
                                                              : text.substr(0, end);
}

ElfSection parse_section(ByteReader reader, unsigned word, std::uint32_t& name_offset) {
  ElfSection section;
  name_offset = reader.u32();
  section.type = reader.u32();
  section.flags = reader.fixed(word);
  section.address = reader.fixed(word);
  section.offset = reader.fixed(word);
  section.size = reader.fixed(word);
  section.link = reader.u32();
  section.info = reader.u32();
  section.alignment = reader.fixed(word);
  section.entry_size = reader.fixed(word);
  return section;
}

}  // namespace

ElfHeader parse_elf_header(ByteView bytes, const std::string& path) {
  ElfHeader header = parse_ident(bytes, path);
  const ByteView ordered(bytes.bytes(), header.identity.endian);
  ByteReader reader(ordered, EI_NIDENT);
  header.type = reader.u16();
  header.identity.machine = reader.u16();
  reader.u32();  // e_version
  header.entry = reader.fixed(header.identity.pointer_size);
  header.segments_offset = reader.fixed(header.identity.pointer_size);
  header.sections_offset = reader.fixed(header.identity.pointer_size);
  header.identity.flags = reader.u32();
  reader.u16();  // e_ehsize
  header.segment_stride = reader.u16();
  header.segment_count = reader.u16();
  header.section_stride = reader.u16();
  header.section_count = reader.u16();
  header.section_names = reader.u16();
  if (!reader.ok()) {
    throw Error(path, "is cut off inside its ELF header", "The file is damaged; fetch it again");
  }
  read_extended_counts(ordered, header);
  return header;
}

std::vector<ElfSegment> parse_segments(ByteView bytes, const ElfHeader& header) {
  const unsigned word = header.identity.pointer_size;
  std::vector<ElfSegment> segments;
  segments.reserve(header.segment_count);
  for (std::uint64_t i = 0; i < header.segment_count; ++i) {
    ByteReader reader(bytes, header.segments_offset + i * header.segment_stride);
    ElfSegment segment;
    segment.type = reader.u32();
    if (word == 8) {
      segment.flags = reader.u32();
    }
    segment.offset = reader.fixed(word);
    segment.address = reader.fixed(word);
    reader.fixed(word);  // p_paddr
    segment.file_size = reader.fixed(word);
    segment.memory_size = reader.fixed(word);
    if (word == 4) {
      segment.flags = reader.u32();
    }
    segment.alignment = reader.fixed(word);
    segments.push_back(segment);
  }
  return segments;
}

std::vector<ElfSection> parse_sections(ByteView bytes, const ElfHeader& header) {
  std::vector<ElfSection> sections;
  std::vector<std::uint32_t> name_offsets(header.section_count);
  sections.reserve(header.section_count);
  for (std::uint64_t i = 0; i < header.section_count; ++i) {
    const ByteReader reader(bytes, header.sections_offset + i * header.section_stride);
    sections.push_back(parse_section(reader, header.identity.pointer_size, name_offsets[i]));
    sections.back().index = static_cast<std::uint32_t>(i);
  }
  if (header.section_names >= sections.size()) {
    return sections;
  }
  const ElfSection& table = sections[header.section_names];
  const auto names = bytes.slice(table.offset, table.size);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].name = section_name(names, name_offsets[i]);
  }
  return sections;
}

std::string missing_bytes(ByteView bytes, const ElfHeader& header,
                          const std::vector<ElfSegment>& segments,
                          const std::vector<ElfSection>& sections) {
  // A separate debug file keeps the program headers of the file that it was made from, so where
  // there are sections, they decide.
  const bool by_segments = header.type == ET_CORE || sections.empty();
  std::uint64_t needed = 0;
  for (const ElfSegment& segment : segments) {
    if (by_segments && segment.file_size != 0) {
      needed = std::max(needed, end_of(segment.offset, segment.file_size));
    }
  }
  for (const ElfSection& section : sections) {
    if (!by_segments && section.type != SHT_NOBITS && section.type != SHT_NULL) {
      needed = std::max(needed, end_of(section.offset, section.size));
    }
  }
  if (needed <= bytes.size()) {
    return {};
  }
  return "the file ends at " + hex(bytes.size()) + ", its " +
         (by_segments ? "segments" : "sections") + " reach to " + hex(needed) + ": " +
         std::to_string(needed - bytes.size()) + " bytes are missing";
}

}  // namespace whocall
