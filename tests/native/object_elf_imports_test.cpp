// What dynamic relocations tell of imports.
#include <doctest/doctest.h>

#include <elf.h>

#include <string>
#include <vector>

#include "object/elf_imports.h"
#include "object_elf_images.h"

namespace whocall::testing {
namespace {

constexpr Address kTable = 0x1000;

SectionText section(const std::string& name, std::uint32_t type, Address address, Bytes contents) {
  SectionText text{.name = name, .contents = std::move(contents)};
  text.header.sh_type = type;
  text.header.sh_flags = SHF_ALLOC;
  text.header.sh_addr = address;
  return text;
}

template <typename T>
Bytes bytes_of(const std::vector<T>& entries) {
  Bytes bytes;
  append(bytes, entries.data(), entries.size() * sizeof(T));
  return bytes;
}

// A file whose relocation table at kTable has an entry for each of `symbols` (1 is "puts", 0 none),
// of the words from 0x4000 on. Its dynamic table says that the table is at `table`, and begins with
// `count` entries without a symbol.
std::shared_ptr<const ElfFile> file_with(const std::vector<std::uint64_t>& symbols, Address table,
                                         std::uint64_t count) {
  const std::string names("\0puts", 6);
  Elf64_Sym puts{};
  puts.st_name = 1;
  SectionText dynsym = section(".dynsym", SHT_DYNSYM, 0x100, bytes_of<Elf64_Sym>({{}, puts}));
  dynsym.header.sh_link = 2;  // .dynstr
  std::vector<Elf64_Rela> entries;
  for (const std::uint64_t symbol : symbols) {
    const Address where = 0x4000 + 8 * entries.size();
    entries.push_back({where, symbol << 32U | R_X86_64_64, 0x5000});
  }
  std::vector<Elf64_Dyn> dynamic(3);
  dynamic[0] = {DT_RELA, {table}};
  dynamic[1] = {DT_RELACOUNT, {count}};
  return ElfFile::from_memory(
      image_with(
          {dynsym,
           section(".dynstr", SHT_STRTAB, 0x200, bytes_of<char>({names.begin(), names.end()})),
           section(".rela.dyn", SHT_RELA, kTable, bytes_of(entries)),
           section(".dynamic", SHT_DYNAMIC, 0x3000, bytes_of(dynamic))}),
      "imports");
}

std::size_t imports(const std::vector<std::uint64_t>& symbols, Address table, std::uint64_t count) {
  const auto file = file_with(symbols, table, count);
  const auto found = imported_functions(*file);
  for (const auto& [where, name] : found) {
    CHECK(name == "puts");
    CHECK(symbols.at((where - 0x4000) / 8) == 1);
  }
  return found.size();
}

TEST_CASE("imports: words that are bound to a symbol have its name") {
  CHECK(imports({0, 0, 1, 0, 1}, kTable, 0) == 2);
  CHECK(imports({0, 0, 1, 0, 1}, kTable, 2) == 2);
  CHECK(imports({0, 0, 7}, kTable, 2) == 0);  // there is no such symbol
}

TEST_CASE("imports: what the linker says to have no symbol is not looked at, as the loader does") {
  CHECK(imports({1, 0, 1}, kTable, 2) == 1);
  CHECK(imports({1, 0, 1}, kTable + 8, 2) == 2);  // of another table
}

TEST_CASE("imports: a number that cannot be true is worth nothing") {
  CHECK(imports({1, 0, 1}, kTable, 3) == 2);
  CHECK(imports({1, 0, 1}, kTable, 1) == 2);
  CHECK(imports({1, 0, 0}, kTable, 4) == 1);
  CHECK(imports({1, 0, 0}, kTable, ~std::uint64_t{0}) == 1);
}

TEST_CASE("imports: relative pointers are told of all the same") {
  const auto file = file_with({0, 0, 1, 0}, kTable, 2);
  std::vector<Address> words;
  for_each_relative_pointer(*file, [&](Address where, Address target) {
    CHECK(target == 0x5000);
    words.push_back(where);
  });
  CHECK(words == std::vector<Address>{0x4000, 0x4008, 0x4018});
}

// A MIPS file of 64 bits: a global offset table at 0x4000 with the two reserved words, two of the
// file's own and one of puts; a relocation without a symbol, of the type's usual bytes.
std::shared_ptr<const ElfFile> mips_file(std::uint64_t locals) {
  const std::string names("\0puts", 6);
  Elf64_Sym puts{};
  puts.st_name = 1;
  SectionText dynsym = section(".dynsym", SHT_DYNSYM, 0x100, bytes_of<Elf64_Sym>({{}, puts}));
  dynsym.header.sh_link = 2;                            // .dynstr
  constexpr std::uint64_t kTypes = 0x0312000000000000;  // R_MIPS_64, R_MIPS_REL32, in this order
  std::vector<Elf64_Dyn> dynamic(4);
  dynamic[0] = {DT_PLTGOT, {0x4000}};
  dynamic[1] = {DT_MIPS_LOCAL_GOTNO, {locals}};
  dynamic[2] = {DT_MIPS_GOTSYM, {1}};
  return ElfFile::from_memory(
      image_with(
          {dynsym,
           section(".dynstr", SHT_STRTAB, 0x200, bytes_of<char>({names.begin(), names.end()})),
           section(".rel.dyn", SHT_REL, kTable,
                   bytes_of<Elf64_Rel>({{0x4028, kTypes}, {0x4030, kTypes | 1U}})),
           section(".got", SHT_PROGBITS, 0x4000,
                   bytes_of<std::uint64_t>({0, 0, 0x700, 0x800, 0, 0x900, 0})),
           section(".dynamic", SHT_DYNAMIC, 0x3000, bytes_of(dynamic))},
          EM_MIPS),
      "mips");
}

TEST_CASE("imports: the GOT of MIPS is bound without relocations, whose symbols come first") {
  const auto file = mips_file(4);
  const auto found = imported_functions(*file);
  CHECK(found.size() == 2);
  CHECK(found.at(0x4020) == "puts");
  CHECK(found.at(0x4030) == "puts");
  std::vector<Address> words;
  for_each_relative_pointer(*file, [&](Address where, Address) { words.push_back(where); });
  CHECK(words == std::vector<Address>{0x4028, 0x4010, 0x4018});
  // A number that cannot be true.
  CHECK(imported_functions(*mips_file(1)).size() == 1);
  CHECK(imported_functions(*mips_file(~std::uint64_t{0})).size() == 1);
}

}  // namespace
}  // namespace whocall::testing
