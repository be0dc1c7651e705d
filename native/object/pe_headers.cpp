#include "object/pe_headers.h"

#include <algorithm>
#include <utility>

#include "base/byte_reader.h"

namespace whocall {
namespace {

constexpr std::uint16_t kMagic = 0x5a4d;          // "MZ"
constexpr std::uint32_t kSignature = 0x00004550;  // "PE", two zeros
constexpr std::uint64_t kFileHeader = 20;         // bytes, behind the signature
constexpr std::size_t kRow = 40;                  // bytes of a section's header
constexpr std::size_t kMostPeSections = 512;      // each address is looked for among them; Windows
                                                  // has long taken 96
constexpr std::size_t kLongestSectionName = 64;

// Names longer than eight bytes are told as "/123": a place in the table of strings, which stands
// behind the symbols.
std::string section_name(ByteView bytes, ByteView row, const PeHeaders& headers) {
  std::string name;
  for (const std::byte byte : row.slice(0, 8)->bytes()) {
    name += std::to_integer<char>(byte);
  }
  name.resize(std::min(name.find('\0'), name.size()));
  if (name.size() < 2 || name[0] != '/' || headers.symbols_offset == 0) {
    return name;
  }
  std::uint64_t place = 0;
  for (const char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') {
      return name;
    }
    place = place * 10 + static_cast<unsigned>(digit - '0');
  }
  const std::uint64_t strings = headers.symbols_offset + std::uint64_t{headers.symbol_count} * 18;
  const ByteView text = bytes.from(strings).from(place);
  const auto longer = text.slice(0, std::min(text.size(), kLongestSectionName))->c_string(0);
  return longer ? std::string(*longer) : name;
}

void read_sections(ByteView bytes, std::uint64_t table, std::size_t count, PeHeaders& headers) {
  for (std::size_t at = 0; at < std::min(count, kMostPeSections); ++at) {
    const auto row = bytes.slice(table + at * kRow, kRow);
    if (!row) {
      return;
    }
    PeSection section;
    section.name = section_name(bytes, *row, headers);
    ByteReader reader(*row, 8);
    section.virtual_size = reader.u32();
    section.address = reader.u32();
    section.raw_size = reader.u32();
    section.offset = reader.u32();
    reader.skip(12);
    section.flags = reader.u32();
    headers.sections.push_back(std::move(section));
  }
}

// The optional header; false where it is of no kind that we know.
bool read_optional_header(ByteReader reader, PeHeaders& headers) {
  const std::uint64_t begin = reader.offset();
  const std::uint16_t kind = reader.u16();
  headers.wide = kind == 0x20b;
  if (!headers.wide && kind != 0x10b) {
    return false;
  }
  reader.skip(14);
  headers.entry = reader.u32();
  reader.skip(headers.wide ? 4 : 8);
  headers.base_field = reader.offset();
  headers.image_base = reader.fixed(headers.wide ? 8 : 4);
  reader = ByteReader(reader.view(), begin + 56);
  headers.image_size = reader.u32();
  headers.headers_size = reader.u32();
  reader = ByteReader(reader.view(), begin + (headers.wide ? 108 : 92));
  const std::uint32_t count = reader.u32();
  std::array<PeDirectory, 4> directories;  // exports, imports, resources, exceptions
  for (std::size_t at = 0; at < std::min<std::size_t>(count, directories.size()); ++at) {
    directories.at(at).address = reader.u32();
    directories.at(at).size = reader.u32();
  }
  headers.exports = directories[0];
  headers.exceptions = directories[3];
  return reader.ok();
}

}  // namespace

std::optional<PeHeaders> read_pe_headers(ByteView bytes) {
  const auto place = bytes.read<std::uint32_t>(0x3c);
  if (bytes.read<std::uint16_t>(0) != kMagic || !place ||
      bytes.read<std::uint32_t>(*place) != kSignature) {
    return std::nullopt;
  }
  PeHeaders headers;
  ByteReader reader(bytes, std::uint64_t{*place} + 4);
  headers.machine = reader.u16();
  const std::uint16_t sections = reader.u16();
  reader.skip(4);  // the time
  headers.symbols_offset = reader.u32();
  headers.symbol_count = reader.u32();
  const std::uint16_t optional_size = reader.u16();
  reader.skip(2);
  headers.system_v = headers.machine == (kPeX8664 ^ kPeForLinux);
  if (headers.system_v) {
    headers.machine = kPeX8664;
  }
  const bool is_ours = (headers.machine == kPeX8664) || (headers.machine == kPeI386);
  if (!is_ours || !read_optional_header(reader, headers) ||
      headers.wide != (headers.machine == kPeX8664)) {
    return std::nullopt;
  }
  read_sections(bytes, std::uint64_t{*place} + 4 + kFileHeader + optional_size, sections, headers);
  return headers;
}

ByteView PeBytes::at(std::uint32_t address) const {
  for (const PeSection& section : headers_.sections) {
    const std::uint32_t inside = address - section.address;
    if (address < section.address || inside >= section.file_size()) {
      continue;
    }
    const ByteView whole = bytes_.from(loaded_ ? section.address : section.offset);
    const auto part = whole.slice(0, std::min<std::uint64_t>(whole.size(), section.file_size()));
    return part->from(inside);
  }
  return ByteView({}, bytes_.endian());
}

}  // namespace whocall
