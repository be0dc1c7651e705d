// The symbol tables of an ELF file, decoded entry by entry without copying names.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

struct ElfSymbol {
  std::string_view name;        // as in the file (mangled); lives as long as the file
  Address value = 0;            // link address; the Thumb bit is still in it
  std::uint64_t size = 0;       // bytes; 0 when the producer did not say
  std::uint32_t section = 0;    // index, SHN_XINDEX resolved; SHN_ABS and its like as they are
  std::uint8_t type = 0;        // STT_*
  std::uint8_t binding = 0;     // STB_*
  std::uint8_t visibility = 0;  // STV_*
};

// .symtab; empty when stripped.
std::vector<ElfSymbol> static_symbols(const ElfFile& file);
// .dynsym, through its section or, without section headers, through PT_DYNAMIC and the hash table.
std::vector<ElfSymbol> dynamic_symbols(const ElfFile& file);

// The same, one by one: a table of a million entries need not be held twice.
using SymbolVisitor = std::function<void(const ElfSymbol&)>;
void for_each_static_symbol(const ElfFile& file, const SymbolVisitor& visit);
void for_each_dynamic_symbol(const ElfFile& file, const SymbolVisitor& visit);

}  // namespace whocall
