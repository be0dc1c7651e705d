// Small ELF images for tests, written field by field, so that each can be wrong in one place.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace whocall::testing {

using Bytes = std::vector<std::byte>;

inline Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  Bytes bytes(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

template <typename T>
void put(Bytes& bytes, std::size_t offset, const T& value) {
  if (bytes.size() < offset + sizeof(T)) {
    bytes.resize(offset + sizeof(T));
  }
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

inline void append(Bytes& bytes, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

// A 64-bit little-endian header without tables.
inline Elf64_Ehdr header64(std::uint16_t type = ET_DYN) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  return header;
}

struct SectionText {
  std::string name;
  Elf64_Shdr header = {};  // offset and size are filled in from `contents`
  Bytes contents;
};

// An image with the sections given (numbered from 1 on) and .shstrtab behind them.
inline Bytes image_with(std::vector<SectionText> sections, std::uint16_t machine = EM_X86_64) {
  Bytes image(sizeof(Elf64_Ehdr));
  std::string names(1, '\0');
  sections.push_back({".shstrtab", {}, {}});
  std::vector<Elf64_Shdr> headers(1);
  for (SectionText& section : sections) {
    Elf64_Shdr header = section.header;
    header.sh_name = static_cast<Elf64_Word>(names.size());
    names += section.name + '\0';
    if (&section == &sections.back()) {
      header.sh_type = SHT_STRTAB;
      section.contents.resize(names.size());
      std::memcpy(section.contents.data(), names.data(), names.size());
    }
    header.sh_offset = image.size();
    header.sh_size = header.sh_type == SHT_NOBITS ? header.sh_size : section.contents.size();
    append(image, section.contents.data(), section.contents.size());
    headers.push_back(header);
  }
  Elf64_Ehdr header = header64();
  header.e_machine = machine;
  header.e_shoff = image.size();
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  append(image, headers.data(), headers.size() * sizeof(Elf64_Shdr));
  put(image, 0, header);
  return image;
}

}  // namespace whocall::testing
