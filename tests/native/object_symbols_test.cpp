#include <doctest/doctest.h>
#include <elf.h>

#include <map>
#include <tuple>

#include "object/call_frame_info.h"
#include "object/elf_dynamic.h"
#include "object/elf_symbols.h"
#include "object_elf_images.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

using SymbolKey = std::tuple<std::string_view, Address, std::uint64_t, std::uint8_t>;

std::vector<SymbolKey> keys(const std::vector<ElfSymbol>& symbols) {
  std::vector<SymbolKey> result;
  for (const ElfSymbol& symbol : symbols) {
    result.emplace_back(symbol.name, symbol.value, symbol.size, symbol.type);
  }
  return result;
}

std::string libc_path() {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
                           "/lib/aarch64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"}) {
    if (!read_bytes(path).empty()) {
      return path;
    }
  }
  return "/proc/self/exe";
}

std::shared_ptr<const ElfFile> without_sections(const std::string& path) {
  Bytes image = read_bytes(path);
  put<std::uint64_t>(image, offsetof(Elf64_Ehdr, e_shoff), 0);
  put<std::uint16_t>(image, offsetof(Elf64_Ehdr, e_shnum), 0);
  return ElfFile::from_memory(std::move(image), path);
}

std::map<Address, Address> fde_ranges(const ElfFile& file) {
  std::map<Address, Address> ranges;
  const CallFrameInfo* info = eh_frame_of(file);
  REQUIRE(info != nullptr);
  info->for_each([&](const Fde& fde) { ranges[fde.range.begin] = fde.range.end; });
  return ranges;
}

}  // namespace

TEST_CASE("symbols: a library without section headers gives the same") {
  const auto whole = ElfFile::open(libc_path());
  const auto headless = without_sections(libc_path());
  CHECK(headless->sections().empty());
  CHECK(static_symbols(*headless).empty());
  CHECK(dynamic_symbols(*whole).size() > 10);
  CHECK(keys(dynamic_symbols(*whole)) == keys(dynamic_symbols(*headless)));
  CHECK(soname_of(*whole) == soname_of(*headless));
  CHECK(whole->build_id() == headless->build_id());
  CHECK(fde_ranges(*whole) == fde_ranges(*headless));
}

TEST_CASE("symbols: section numbers beyond 16 bits and names beyond the table") {
  Elf64_Sym wide = {};
  wide.st_name = 1;
  wide.st_shndx = SHN_XINDEX;
  Elf64_Sym lost = {};
  lost.st_name = 0xfffffff0;
  lost.st_shndx = 1;
  const Elf64_Sym entries[3] = {{}, wide, lost};
  const std::uint32_t numbers[3] = {0, 70000, 0};
  SectionText symtab{".symtab", {}, {}};
  symtab.header.sh_type = SHT_SYMTAB;
  symtab.header.sh_link = 2;
  append(symtab.contents, entries, sizeof entries);
  SectionText strtab{".strtab", {}, {}};
  strtab.header.sh_type = SHT_STRTAB;
  append(strtab.contents, "\0far", 5);
  SectionText shndx{".symtab_shndx", {}, {}};
  shndx.header.sh_type = SHT_SYMTAB_SHNDX;
  shndx.header.sh_link = 1;
  append(shndx.contents, numbers, sizeof numbers);
  const auto file = ElfFile::from_memory(image_with({symtab, strtab, shndx}), "wide");
  const auto symbols = static_symbols(*file);
  REQUIRE(symbols.size() == 2);
  CHECK(symbols[0].name == "far");
  CHECK(symbols[0].section == 70000);
  CHECK(symbols[1].name.empty());
}

TEST_CASE("dynamic table: hostile hash chains end") {
  const auto whole = ElfFile::open(libc_path());
  const auto hash = ElfDynamic(*whole).value(DT_GNU_HASH);
  REQUIRE(hash.has_value());
  Bytes image = read_bytes(libc_path());
  put<std::uint64_t>(image, offsetof(Elf64_Ehdr, e_shoff), 0);
  const auto offset =
      static_cast<std::size_t>(whole->at(*hash).bytes().data() - whole->bytes().bytes().data());
  put<std::uint32_t>(image, offset, 0xffffffffU);  // buckets
  put<std::uint32_t>(image, offset + 8, 0);        // no bloom filter: all is read as buckets
  const auto symbols = dynamic_symbols(*ElfFile::from_memory(std::move(image), "hostile"));
  CHECK(symbols.size() < whole->bytes().size() / sizeof(Elf64_Sym));
}
