// The symbol tables of an ELF file, decoded entry by entry without copying names.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/byte_view.h"
#include "object/elf_file.h"

namespace whocall {

// An entry without its name: a table can be gone through without reading a single one.
struct ElfSymbolEntry {
  std::uint32_t name_offset = 0;  // in the string table
  Address value = 0;              // link address; the Thumb bit is still in it
  std::uint64_t size = 0;         // bytes; 0 when the producer did not say
  std::uint32_t section = 0;      // index, SHN_XINDEX resolved; SHN_ABS and its like as they are
  std::uint8_t type = 0;          // STT_*
  std::uint8_t binding = 0;       // STB_*
  std::uint8_t visibility = 0;    // STV_*
};

struct ElfSymbol : ElfSymbolEntry {
  std::string_view name;  // as in the file (mangled); lives as long as the file
};

// One symbol table of a file, which must outlive it.
class ElfSymbols {
 public:
  // .symtab; empty when stripped.
  static ElfSymbols static_of(const ElfFile& file);
  // .dynsym, through its section or, without section headers, through PT_DYNAMIC and the hash
  // table.
  static ElfSymbols dynamic_of(const ElfFile& file);

  // How many entries there are. Entry 0 is undefined by definition.
  [[nodiscard]] std::size_t size() const { return entries_.size() / (wide_ ? 24 : 16); }
  [[nodiscard]] ElfSymbolEntry operator[](std::size_t index) const {
    return wide_ ? entry<Elf64_Sym>(index) : entry<Elf32_Sym>(index);
  }
  // Empty when it has none, and where no end of it follows within 64 KiB.
  [[nodiscard]] std::string_view name_of(const ElfSymbolEntry& entry) const;
  [[nodiscard]] ByteView strings() const { return strings_; }

 private:
  static std::optional<ElfSymbols> in_section(const ElfFile& file, std::uint32_t type);
  static ElfSymbols in_dynamic_table(const ElfFile& file);
  template <typename Layout>
  [[nodiscard]] ElfSymbolEntry entry(std::size_t index) const;

  ByteView entries_;
  ByteView strings_;
  ByteView section_numbers_;  // SHT_SYMTAB_SHNDX: those that do not fit 16 bits
  bool wide_ = true;          // ELFCLASS64
};

// gABI, "Symbol table": the two classes order the same fields differently. Here and not in the
// source file, because a table may have ten million of them.
template <typename Layout>
ElfSymbolEntry ElfSymbols::entry(std::size_t index) const {
  const auto whole = entries_.slice(index * sizeof(Layout), sizeof(Layout));
  ElfSymbolEntry symbol;
  if (!whole) {
    return symbol;
  }
  const auto field = [&](std::size_t offset, auto like) {
    return whole->read<decltype(like)>(offset).value_or(0);
  };
  using Word = decltype(Layout::st_size);
  const auto info = field(offsetof(Layout, st_info), std::uint8_t{});
  symbol.name_offset = field(offsetof(Layout, st_name), std::uint32_t{});
  symbol.value = field(offsetof(Layout, st_value), Word{});
  symbol.size = field(offsetof(Layout, st_size), Word{});
  symbol.type = info & 15U;
  symbol.binding = static_cast<std::uint8_t>(info >> 4U);
  symbol.visibility = field(offsetof(Layout, st_other), std::uint8_t{}) & 3U;
  symbol.section = field(offsetof(Layout, st_shndx), std::uint16_t{});
  if (symbol.section == SHN_XINDEX) {
    symbol.section = section_numbers_.read<std::uint32_t>(index * 4).value_or(SHN_UNDEF);
  }
  return symbol;
}

// All entries but the first.
std::vector<ElfSymbol> static_symbols(const ElfFile& file);
std::vector<ElfSymbol> dynamic_symbols(const ElfFile& file);

}  // namespace whocall
