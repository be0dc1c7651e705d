// An ELF file of this machine's own kind, mapped to be read, with its tables of symbols.
#pragma once

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

#include "runtime/modules.h"

namespace whocall::runtime {

// A table of symbols and its strings, whole inside the file.
struct SymbolTable {
  const ElfW(Sym) * symbols = nullptr;
  std::size_t count = 0;
  const char* strings = nullptr;
  std::size_t strings_size = 0;  // bytes
};

class MappedFile {
 public:
  // Empty where there is no such file, or where it is no ELF file of this machine's; with a
  // program too where others than those who may write that could have written it.
  explicit MappedFile(const char* path, const struct stat* program = nullptr);
  // The same of bytes that lie in memory, aligned as a mapping is.
  MappedFile(const std::byte* bytes, std::size_t size);

  [[nodiscard]] bool is_open() const { return bytes_ != nullptr; }
  [[nodiscard]] bool has(const BuildId& id) const;
  // Of SHT_SYMTAB or SHT_DYNSYM; empty where it has none.
  [[nodiscard]] SymbolTable symbols(std::uint32_t type) const;
  // The bytes of a section; empty where it has none of that name, or packs it.
  [[nodiscard]] rules::ByteSpan section(const char* name) const;
  // The same, which begins at its link address.
  [[nodiscard]] rules::ByteSpan loaded_section(const char* name) const;

 private:
  void check();
  [[nodiscard]] const ElfW(Shdr) * find_section(const char* name) const;
  [[nodiscard]] const ElfW(Shdr) * section(std::size_t number) const;
  [[nodiscard]] bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= size_ && size <= size_ - offset;
  }
  template <typename Part>
  [[nodiscard]] const Part* at(std::uint64_t offset, std::uint64_t count = 1) const {
    return count <= size_ && offset % alignof(Part) == 0 && inside(offset, count * sizeof(Part))
               ? reinterpret_cast<const Part*>(bytes_ + offset)
               : nullptr;
  }

  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace whocall::runtime
