#include "runtime/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "runtime/trusted_file.h"

namespace whocall::runtime {

// The mapping stays: names that were found point into it.
MappedFile::MappedFile(const char* path, const struct stat* program) {
  struct stat status {};
  const int file = open_to_read(path, status);
  if (file < 0) {
    return;
  }
  if ((program == nullptr || is_trusted(status, *program)) &&
      static_cast<std::uint64_t>(status.st_size) >= sizeof(ElfW(Ehdr))) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      bytes_ = static_cast<const std::byte*>(memory);
      size_ = size;
    }
  }
  close(file);
  const std::byte* const mapped = bytes_;
  check();
  if (mapped != nullptr && !is_open()) {
    munmap(const_cast<std::byte*>(mapped), size_);
  }
}

MappedFile::MappedFile(const std::byte* bytes, std::size_t size) : bytes_(bytes), size_(size) {
  check();
}

// Anything but an ELF file of this machine's kind is as good as none.
void MappedFile::check() {
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (is_open()) {
    const auto* const header = at<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != kClass || header->e_shentsize != sizeof(ElfW(Shdr))) {
      bytes_ = nullptr;
    }
  }
}

const ElfW(Shdr) * MappedFile::find_section(const char* name) const {
  const ElfW(Shdr)* const names = section(at<ElfW(Ehdr)>(0)->e_shstrndx);
  const std::size_t length = std::strlen(name) + 1;
  for (std::size_t i = 0; const ElfW(Shdr)* each = section(i); ++i) {
    if (names != nullptr && inside(names->sh_offset, names->sh_size) &&
        each->sh_name < names->sh_size && length <= names->sh_size - each->sh_name &&
        std::memcmp(bytes_ + names->sh_offset + each->sh_name, name, length) == 0 &&
        each->sh_type != SHT_NOBITS && (each->sh_flags & SHF_COMPRESSED) == 0 &&
        inside(each->sh_offset, each->sh_size)) {
      return each;
    }
  }
  return nullptr;
}

rules::ByteSpan MappedFile::section(const char* name) const {
  const ElfW(Shdr)* const found = find_section(name);
  return found == nullptr
             ? rules::ByteSpan{}
             : rules::ByteSpan{bytes_ + found->sh_offset, found->sh_offset, found->sh_size};
}

rules::ByteSpan MappedFile::loaded_section(const char* name) const {
  const ElfW(Shdr)* const found = find_section(name);
  return found == nullptr
             ? rules::ByteSpan{}
             : rules::ByteSpan{bytes_ + found->sh_offset, found->sh_addr, found->sh_size};
}

const ElfW(Shdr) * MappedFile::section(std::size_t number) const {
  const auto& header = *at<ElfW(Ehdr)>(0);
  return number < header.e_shnum ? at<ElfW(Shdr)>(header.e_shoff + number * sizeof(ElfW(Shdr)))
                                 : nullptr;
}

bool MappedFile::has(const BuildId& id) const {
  for (std::size_t i = 0; const ElfW(Shdr)* each = section(i); ++i) {
    if (each->sh_type != SHT_NOTE || !inside(each->sh_offset, each->sh_size)) {
      continue;
    }
    rules::ByteCursor notes({bytes_ + each->sh_offset, 0, each->sh_size});
    while (!notes.at_end()) {
      const auto note = notes.take<ElfW(Nhdr)>();
      notes.skip((note.n_namesz + 3U) & ~3U);
      const rules::ByteSpan description = notes.rest();
      if (notes.ok() && note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          note.n_descsz <= description.size) {
        return note.n_descsz == id.size && std::memcmp(description.bytes, id.bytes, id.size) == 0;
      }
      notes.skip((note.n_descsz + 3U) & ~3U);
    }
  }
  return false;
}

SymbolTable MappedFile::symbols(std::uint32_t type) const {
  for (std::size_t i = 0; const ElfW(Shdr)* each = section(i); ++i) {
    if (each->sh_type != type) {
      continue;
    }
    const ElfW(Shdr)* const strings = section(each->sh_link);
    const std::size_t count = each->sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = at<ElfW(Sym)>(each->sh_offset, count);
    // The last string has to end in the table.
    if (symbols != nullptr && strings != nullptr && strings->sh_type == SHT_STRTAB &&
        strings->sh_size != 0 && inside(strings->sh_offset, strings->sh_size) &&
        bytes_[strings->sh_offset + strings->sh_size - 1] == std::byte{0}) {
      return {symbols, count, reinterpret_cast<const char*>(bytes_ + strings->sh_offset),
              strings->sh_size};
    }
  }
  return {};
}

}  // namespace whocall::runtime
