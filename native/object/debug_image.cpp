#include "object/debug_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "base/interrupt.h"
#include "object/elf_decompress.h"
#include "object/pe_file.h"
#include "object/relocated_section.h"

namespace whocall {
namespace {

constexpr std::array<std::string_view, 9> kNeeded = {
    "debug_info",   "debug_abbrev",   "debug_line", "debug_str",        "debug_line_str",
    "debug_ranges", "debug_rnglists", "debug_addr", "debug_str_offsets"};

// "debug_info" of ".debug_info" and ".zdebug_info"; empty for what no line needs.
std::string_view needed_name(std::string_view section) {
  if (section.starts_with(".z")) {
    section.remove_prefix(2);
  } else if (section.starts_with('.')) {
    section.remove_prefix(1);
  }
  const auto found = std::ranges::find(kNeeded, section);
  return found == kNeeded.end() ? std::string_view() : *found;
}

bool is_compressed(const ElfSection& section) {
  return (section.flags & SHF_COMPRESSED) != 0 || section.name.starts_with(".zdebug");
}

bool is_zstd(const ElfFile& file, const ElfSection& section) {
  constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD
  const auto stored = file.bytes().slice(section.offset, section.size);
  return stored && (section.flags & SHF_COMPRESSED) != 0 && stored->read<std::uint32_t>(0) == kZstd;
}

bool file_will_do(const ElfFile& file) {
  bool compressed = false;
  bool zstd = false;
  for (const ElfSection& section : file.sections()) {
    if (!needed_name(section.name).empty() && section.type != SHT_NOBITS) {
      compressed = compressed || is_compressed(section);
      zstd = zstd || is_zstd(file, section);
    }
  }
  const bool may_be_split =
      file.section(".debug_addr") != nullptr || file.section(".zdebug_addr") != nullptr;
  return file.type() != ET_REL && pe_headers_of(file).empty() && !zstd &&
         (!compressed || may_be_split);
}

// An ELF file of 64 bits and as many sections as are added.
class Image {
 public:
  explicit Image(Endian endian) : endian_(endian), bytes_(sizeof(Elf64_Ehdr)) {
    add_header(0, SHT_NULL, 0, 0);
  }

  void add(std::string_view name, std::span<const std::byte> contents) {
    add_header(names_.size(), SHT_PROGBITS, bytes_.size(), contents.size());
    names_.append(".").append(name).push_back('\0');
    bytes_.insert(bytes_.end(), contents.begin(), contents.end());
  }

  std::vector<std::byte> finish(std::uint16_t type) && {
    add_header(names_.size(), SHT_STRTAB, bytes_.size(), names_.size() + sizeof(".shstrtab"));
    names_.append(".shstrtab").push_back('\0');
    const auto* begin = reinterpret_cast<const std::byte*>(names_.data());
    bytes_.insert(bytes_.end(), begin, begin + names_.size());
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    write_file_header(type, bytes_.size());
    bytes_.insert(bytes_.end(), headers_.begin(), headers_.end());
    return std::move(bytes_);
  }

 private:
  template <typename T>
  void put(std::byte* field, T value) const {
    value = endian_ == Endian::little ? value : swap_bytes(value);
    std::memcpy(field, &value, sizeof(value));
  }

  void add_header(std::uint64_t name, std::uint32_t type, std::uint64_t offset,
                  std::uint64_t size) {
    headers_.resize(headers_.size() + sizeof(Elf64_Shdr));
    std::byte* header = &headers_[headers_.size() - sizeof(Elf64_Shdr)];
    put(header + offsetof(Elf64_Shdr, sh_name), static_cast<std::uint32_t>(name));
    put(header + offsetof(Elf64_Shdr, sh_type), type);
    put(header + offsetof(Elf64_Shdr, sh_offset), offset);
    put(header + offsetof(Elf64_Shdr, sh_size), size);
    put(header + offsetof(Elf64_Shdr, sh_addralign), std::uint64_t{1});
  }

  void write_file_header(std::uint16_t type, std::uint64_t section_headers) {
    const auto count = static_cast<std::uint16_t>(headers_.size() / sizeof(Elf64_Shdr));
    std::byte* header = bytes_.data();
    std::memcpy(header, ELFMAG, SELFMAG);
    header[EI_CLASS] = std::byte{ELFCLASS64};
    header[EI_DATA] =
        std::byte{static_cast<std::uint8_t>(endian_ == Endian::little ? ELFDATA2LSB : ELFDATA2MSB)};
    header[EI_VERSION] = std::byte{EV_CURRENT};
    put(header + offsetof(Elf64_Ehdr, e_type), type);
    put(header + offsetof(Elf64_Ehdr, e_version), std::uint32_t{EV_CURRENT});
    put(header + offsetof(Elf64_Ehdr, e_shoff), section_headers);
    put(header + offsetof(Elf64_Ehdr, e_ehsize), std::uint16_t{sizeof(Elf64_Ehdr)});
    put(header + offsetof(Elf64_Ehdr, e_shentsize), std::uint16_t{sizeof(Elf64_Shdr)});
    put(header + offsetof(Elf64_Ehdr, e_shnum), count);
    put(header + offsetof(Elf64_Ehdr, e_shstrndx), static_cast<std::uint16_t>(count - 1));
  }

  Endian endian_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> headers_;
  std::string names_ = std::string(1, '\0');
};

void add_section(Image& image, const ElfFile& file, const ElfSection& section,
                 std::span<const RelocationForm> forms) {
  const std::string_view name = needed_name(section.name);
  const auto stored = file.bytes().slice(section.offset, section.size);
  if (name.empty() || section.type == SHT_NOBITS || !stored) {
    return;
  }
  const auto moved = file.type() == ET_REL
                         ? relocated_section(file, section, forms, AddressZero::is_valid)
                         : std::vector<std::byte>();
  if (!moved.empty()) {
    image.add(name, moved);
  } else if (!is_compressed(section)) {
    image.add(name, stored->bytes());
  } else {
    // Not ElfFile::contents(), which would keep a second copy of it all.
    const auto inflated = section.name.starts_with(".zdebug")
                              ? decompress_zdebug(*stored, file.budget())
                              : decompress_section(*stored, file.pointer_size(), file.budget());
    if (inflated) {
      image.add(name, {inflated->data.get(), inflated->size});
    }
  }
}

}  // namespace

std::optional<std::vector<std::byte>> debug_image(const ElfFile& file,
                                                  std::span<const RelocationForm> forms) {
  if (file_will_do(file)) {
    return std::nullopt;
  }
  Image image(file.endian());
  for (const ElfSection& section : file.sections()) {
    check_interrupt();
    add_section(image, file, section, forms);
  }
  return std::move(image).finish(file.type());
}

std::vector<std::byte> empty_debug_image() {
  Image image(Endian::little);
  // libdw takes nothing without the first. No unit is that small, so there is none in it.
  for (const std::string_view name : {"debug_info", "debug_str"}) {
    image.add(name, std::array{std::byte{0}});
  }
  return std::move(image).finish(ET_EXEC);
}

}  // namespace whocall
