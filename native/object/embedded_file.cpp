#include "object/embedded_file.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_view.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/mapped_file.h"
#include "object/elf_dynamic.h"
#include "object/elf_header.h"

namespace whocall {
namespace {

// The header that stands before each entry of a zip archive (APPNOTE.TXT, 4.3.7).
namespace zip {
constexpr std::uint32_t kMagic = 0x04034b50;
constexpr std::uint64_t kSize = 30;
constexpr std::uint64_t kMethod = 8;
constexpr std::uint64_t kNameSize = 26;
constexpr std::uint64_t kExtraSize = 28;
constexpr std::uint16_t kStored = 0;
constexpr std::uint64_t kFarthest = 70000;  // the padding to a page of 64 KiB, and a name
}  // namespace zip

struct Embedding {
  std::uint64_t offset = 0;
  std::string name{};
};

// The name of the entry whose bytes begin at `offset`; empty when no header says so.
std::string entry_name(ByteView container, std::uint64_t offset) {
  const std::uint64_t farthest = std::min(offset, zip::kFarthest);
  for (std::uint64_t distance = zip::kSize; distance <= farthest; ++distance) {
    const ByteView header = container.from(offset - distance);
    const std::uint64_t size = header.read<std::uint16_t>(zip::kNameSize).value_or(0);
    const std::uint64_t extra = header.read<std::uint16_t>(zip::kExtraSize).value_or(0);
    if (zip::kSize + size + extra == distance && header.read<std::uint32_t>(0) == zip::kMagic &&
        header.read<std::uint16_t>(zip::kMethod) == zip::kStored) {
      const auto name = header.bytes().subspan(zip::kSize, size);
      const std::string text(reinterpret_cast<const char*>(name.data()), name.size());
      return text.substr(text.rfind('/') + 1);
    }
  }
  return {};
}

// Of the tables that its header tells of. A thousand files may share one: each row is read twice
// for each of them, and becomes an object of several times its size.
std::uint64_t cost_of_tables(const ElfHeader& header) {
  constexpr std::uint64_t kOfAByte = 16;
  return kOfAByte * (header.segment_count * header.segment_stride +
                     header.section_count * header.section_stride);
}

// How many bytes its own tables tell of.
std::uint64_t extent_of(ByteView bytes, const ElfHeader& header) {
  const ByteView ordered(bytes.bytes(), header.identity.endian);
  std::uint64_t end =
      std::max(header.segments_offset + header.segment_count * header.segment_stride,
               header.sections_offset + header.section_count * header.section_stride);
  const auto reach = [&](std::uint64_t offset, std::uint64_t size) {
    if (size <= bytes.size() && offset <= bytes.size() - size) {
      end = std::max(end, offset + size);
    }
  };
  for (const ElfSegment& segment : parse_segments(ordered, header)) {
    reach(segment.offset, segment.file_size);
  }
  for (const ElfSection& section : parse_sections(ordered, header)) {
    reach(section.offset, section.type == SHT_NOBITS ? 0 : section.size);
  }
  return std::min<std::uint64_t>(end, bytes.size());
}

bool begins_as_elf(ByteView bytes) {
  return bytes.size() > SELFMAG &&
         std::ranges::equal(bytes.bytes().first(SELFMAG), std::string_view(ELFMAG), {},
                            [](std::byte byte) { return std::to_integer<char>(byte); });
}

}  // namespace

std::shared_ptr<const ElfFile> open_embedded(const std::string& path, std::uint64_t offset,
                                             Budget& budget) {
  try {
    const auto container = MappedFile::open(path);
    const ByteView all(container->bytes(), Endian::little);
    const ByteView bytes = all.from(offset);
    if (offset == 0 || !begins_as_elf(bytes)) {
      return nullptr;
    }
    check_interrupt();
    const ElfHeader header = parse_elf_header(bytes, path);
    if (!budget.draw(Cost::copied, cost_of_tables(header))) {
      return nullptr;
    }
    const std::uint64_t size = extent_of(bytes, header);
    if (!budget.draw(Cost::copied, size)) {
      return nullptr;
    }
    const auto wanted = bytes.bytes().first(size);
    std::vector<std::byte> image(wanted.begin(), wanted.end());
    std::string name = entry_name(all, offset);
    if (name.empty()) {
      const auto nameless = ElfFile::from_memory(std::move(image), path, &budget);
      name = soname_of(*nameless);
      image.assign(wanted.begin(), wanted.end());
    }
    auto file = ElfFile::from_memory(std::move(image), path_in_container(path, name), &budget);
    file->attachments().get<Embedding>([&] { return Embedding{offset, std::move(name)}; });
    return file;
  } catch (const Error&) {
    return nullptr;  // not there, not readable, or nothing but the magic
  }
}

std::uint64_t offset_in_container(const ElfFile& file) {
  return file.attachments().get<Embedding>([] { return Embedding{}; }).offset;
}

std::string name_in_container(const ElfFile& file) {
  return file.attachments().get<Embedding>([] { return Embedding{}; }).name;
}

std::string path_in_container(const std::string& path, const std::string& name) {
  return name.empty() ? path : path + "!" + name;
}

bool is_archive_name(std::string_view path) {
  constexpr std::array<std::string_view, 3> kEndings = {".apk", ".zip", ".jar"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return path.ends_with(end); });
}

}  // namespace whocall
