// Puts a file together again from the image that a process has of it.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "process/modules/loaded_elf.h"

namespace whocall {
namespace {

// More than any real library; a damaged header must not make us copy all of a large core.
constexpr std::uint64_t kSizeLimit = std::uint64_t{1} << 30U;  // bytes

// Tags whose value the dynamic linker turns into a runtime address in place (glibc does, except
// where the table is read-only).
constexpr bool holds_address(std::uint64_t tag) {
  switch (tag) {
    case DT_PLTGOT:
    case DT_HASH:
    case DT_STRTAB:
    case DT_SYMTAB:
    case DT_RELA:
    case DT_REL:
    case DT_JMPREL:
    case DT_VERSYM:
    case DT_VERDEF:
    case DT_VERNEED:
    case DT_GNU_HASH:
      return true;
    default:
      return false;
  }
}

template <typename Word>
void store(std::span<std::byte> out, std::uint64_t value, Endian endian) {
  auto word = static_cast<Word>(value);
  if (endian != (std::endian::native == std::endian::little ? Endian::little : Endian::big)) {
    word = swap_bytes(word);
  }
  std::memcpy(out.data(), &word, sizeof(word));
}

void store_word(std::span<std::byte> out, std::uint64_t value, const Architecture& arch) {
  if (arch.abi.pointer_size == 8) {
    store<std::uint64_t>(out, value, arch.abi.endian);
  } else {
    store<std::uint32_t>(out, value, arch.abi.endian);
  }
}

std::uint64_t size_of_loaded_file(const LoadedElf& image) {
  std::uint64_t size = 0;
  for (const ElfSegment& segment : image.segments) {
    if (segment.type != PT_LOAD) {
      continue;
    }
    if (segment.offset > kSizeLimit || segment.file_size > kSizeLimit) {
      return 0;
    }
    size = std::max(size, segment.offset + segment.file_size);
  }
  return size > kSizeLimit ? 0 : size;
}

// Looks at both ends of each segment, so that what was not dumped costs no copying.
bool seems_readable(const Memory& memory, const LoadedElf& image) {
  return std::ranges::all_of(image.segments, [&](const ElfSegment& segment) {
    const Address begin = segment.address + image.bias;
    return segment.type != PT_LOAD || segment.file_size == 0 ||
           (!memory.run_at(begin).empty() && !memory.run_at(begin + segment.file_size - 1).empty());
  });
}

bool copy_segments(const Memory& memory, const LoadedElf& image, std::span<std::byte> file) {
  return std::ranges::all_of(image.segments, [&](const ElfSegment& segment) {
    if (segment.type != PT_LOAD) {
      return true;
    }
    const auto part = file.subspan(segment.offset, segment.file_size);
    return memory.read(segment.address + image.bias, part) == part.size();
  });
}

void restore_dynamic_table(const LoadedElf& image, const Architecture& arch,
                           std::span<std::byte> file) {
  const ElfSegment* dynamic = segment_of_type(image.segments, PT_DYNAMIC);
  const AddressRange range = loaded_range(image.segments, image.bias);
  const ByteView view(file, arch.abi.endian);
  const unsigned word = arch.abi.pointer_size;
  if (dynamic == nullptr || image.bias == 0) {
    return;
  }
  for (std::uint64_t done = 0; done + 2 * word <= dynamic->file_size; done += 2 * word) {
    const std::uint64_t offset = dynamic->offset + done;
    const auto tag = view.read_unsigned(offset, word);
    const auto value = view.read_unsigned(offset + word, word);
    if (!tag || !value || *tag == DT_NULL) {
      return;
    }
    if (holds_address(*tag) && range.contains(*value)) {
      store_word(file.subspan(offset + word, word), *value - image.bias, arch);
    }
  }
}

// The section headers stand at the file's end and are not loaded: without this the reader would
// call the file truncated.
void forget_sections(const Architecture& arch, std::span<std::byte> file) {
  const bool wide = arch.abi.pointer_size == 8;
  const auto clear = [&](std::size_t offset, std::size_t size) {
    std::ranges::fill(file.subspan(offset, size), std::byte{0});
  };
  clear(wide ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff),
        arch.abi.pointer_size);
  clear(wide ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum), 4);  // and e_shstrndx
}

bool holds_section_headers(const Architecture& arch, std::span<const std::byte> file) {
  const ByteView view(file, arch.abi.endian);
  const bool wide = arch.abi.pointer_size == 8;
  const auto offset = view.read_unsigned(
      wide ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff), arch.abi.pointer_size);
  const auto count = view.read<std::uint16_t>(wide ? offsetof(Elf64_Ehdr, e_shnum)
                                                   : offsetof(Elf32_Ehdr, e_shnum));
  const std::uint64_t stride = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  return offset && count && *count > 0 && view.slice(*offset, *count * stride).has_value();
}

// The vDSO is mapped whole, with the section headers that stand behind its segment: takes in what
// can be read up to the end of the last page.
void append_rest_of_page(const Memory& memory, const LoadedElf& image,
                         std::vector<std::byte>& file) {
  constexpr std::size_t kPage = 4096;
  const std::size_t loaded = file.size();
  file.resize((loaded + kPage - 1) / kPage * kPage);
  const auto rest = std::span(file).subspan(loaded);
  file.resize(loaded + memory.read(image.header + loaded, rest));
}

}  // namespace

std::shared_ptr<const ElfFile> rebuild_file(const Memory& memory, const LoadedElf& image,
                                            const Architecture& arch, const std::string& name,
                                            Budget& budget) {
  const std::uint64_t size = size_of_loaded_file(image);
  const std::size_t header_size =
      arch.abi.pointer_size == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  if (size < header_size || !seems_readable(memory, image)) {
    return nullptr;
  }
  if (!budget.draw(Cost::copied, size)) {
    return nullptr;
  }
  std::vector<std::byte> file(size);
  // The header may lie outside all segments; it was readable when the image was found.
  if (memory.read(image.header, std::span(file).first(header_size)) != header_size ||
      !copy_segments(memory, image, file)) {
    return nullptr;
  }
  restore_dynamic_table(image, arch, file);
  const auto loads = std::ranges::count(image.segments, std::uint32_t{PT_LOAD}, &ElfSegment::type);
  if (loads == 1 && !holds_section_headers(arch, file)) {
    append_rest_of_page(memory, image, file);
  }
  if (!holds_section_headers(arch, file)) {
    forget_sections(arch, file);
  }
  try {
    return ElfFile::from_memory(std::move(file), name, &budget);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace whocall
