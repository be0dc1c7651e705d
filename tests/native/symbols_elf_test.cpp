#include <doctest/doctest.h>
#include <elf.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "object/call_frame_info.h"
#include "object_elf_images.h"
#include "symbols/table/bfd_table.h"
#include "symbols/table/demangler.h"
#include "symbols/table/plt_symbols.h"
#include "symbols/table/symbol_table.h"

using namespace whocall;
using namespace whocall::testing;
using namespace std::string_literals;

namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
    output += buffer;
  }
  if (pipe != nullptr) {
    ::pclose(pipe);
  }
  return output;
}

Elf64_Sym symbol(std::uint32_t name, unsigned char type, Address value, std::uint64_t size,
                 std::uint16_t section = 1) {
  Elf64_Sym entry = {};
  entry.st_name = name;
  entry.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
  entry.st_value = value;
  entry.st_size = size;
  entry.st_shndx = section;
  return entry;
}

// .text at 0x1000 (0x100 bytes), .data at 0x2000, and the symbols given.
std::shared_ptr<const ElfFile> file_with(const std::string& names, std::vector<Elf64_Sym> symbols,
                                         std::uint16_t machine = EM_X86_64) {
  SectionText text{".text", {}, Bytes(0x100)};
  text.header.sh_type = SHT_PROGBITS;
  text.header.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  text.header.sh_addr = 0x1000;
  SectionText data{".data", {}, Bytes(0x10)};
  data.header.sh_type = SHT_PROGBITS;
  data.header.sh_flags = SHF_ALLOC | SHF_WRITE;
  data.header.sh_addr = 0x2000;
  SectionText symtab{".symtab", {}, Bytes(sizeof(Elf64_Sym))};
  symtab.header.sh_type = SHT_SYMTAB;
  symtab.header.sh_link = 4;
  append(symtab.contents, symbols.data(), symbols.size() * sizeof(Elf64_Sym));
  SectionText strtab{".strtab", {}, {}};
  strtab.header.sh_type = SHT_STRTAB;
  append(strtab.contents, names.data(), names.size());
  strtab.contents.push_back(std::byte{0});
  return ElfFile::from_memory(image_with({text, data, symtab, strtab}, machine), "synthetic");
}

std::vector<std::string> names_of(const SymbolTable& table) {
  std::vector<std::string> names;
  for (const Symbol& each : table.symbols()) {
    names.emplace_back(each.name);
  }
  return names;
}

}  // namespace

TEST_CASE("elf functions: what counts as one") {
  const std::string names = "\0f\0label\0object\0absolute\0in_data\0v@@V1\0end\0"s;
  const auto table = SymbolTable::from_elf(file_with(
      names, {symbol(1, STT_FUNC, 0x1000, 0x10), symbol(3, STT_NOTYPE, 0x1020, 0),
              symbol(9, STT_OBJECT, 0x1030, 8), symbol(16, STT_NOTYPE, 0x1040, 0, SHN_ABS),
              symbol(25, STT_FUNC, 0x2000, 8, 2), symbol(33, STT_GNU_IFUNC, 0x1050, 8),
              symbol(3, STT_FUNC, 0x1060, 0, SHN_UNDEF), symbol(39, STT_NOTYPE, 0x1100, 0)}));
  CHECK(names_of(*table) == std::vector<std::string>{"f", "label", "v"});
  CHECK(table->symbols()[1].range == AddressRange{0x1020, 0x1050});
}

TEST_CASE("elf functions: a size that leads out of the section is cut") {
  const auto table =
      SymbolTable::from_elf(file_with("\0f"s, {symbol(1, STT_FUNC, 0x10f0, ~std::uint64_t{0})}));
  CHECK(table->symbols()[0].range == AddressRange{0x10f0, 0x1100});
}

TEST_CASE("elf functions: ARM's Thumb bit and mapping symbols") {
  const std::string names = "\0thumb\0$t\0$d.1\0$x\0"s;
  const std::vector<Elf64_Sym> symbols = {
      symbol(1, STT_FUNC, 0x1011, 0x10), symbol(7, STT_NOTYPE, 0x1010, 0),
      symbol(10, STT_NOTYPE, 0x1018, 0), symbol(15, STT_NOTYPE, 0x1018, 0)};
  const auto arm = SymbolTable::from_elf(file_with(names, symbols, EM_ARM));
  CHECK(names_of(*arm) == std::vector<std::string>{"thumb", "$x"});
  CHECK(arm->symbols()[0].range == AddressRange{0x1010, 0x1020});
  const auto riscv = SymbolTable::from_elf(file_with(names, symbols, EM_RISCV));
  CHECK(names_of(*riscv) == std::vector<std::string>{"$t", "thumb"});
}

TEST_CASE("elf functions: all that nm lists of our own program") {
  const auto file = ElfFile::open("/proc/self/exe");
  const auto table = SymbolTable::from_elf(file);
  std::map<Address, std::set<std::string, std::less<>>> ours;
  for (const Symbol& each : table->symbols()) {
    ours[each.range.begin].emplace(each.name);
  }
  const std::string path = std::filesystem::read_symlink("/proc/self/exe");
  std::istringstream lines(output_of("nm -n --defined-only '" + path + "'"));
  std::string address;
  std::string type;
  std::string name;
  std::size_t compared = 0;
  while (lines >> address >> type && std::getline(lines >> std::ws, name)) {
    const Address start = std::stoull(address, nullptr, 16);
    const ElfSection* section = file->section_at(start);
    if (std::string("tTwWi").find(type) == std::string::npos || section == nullptr ||
        (section->flags & SHF_EXECINSTR) == 0) {
      continue;
    }
    ++compared;
    CHECK_MESSAGE(ours[start].contains(name.substr(0, name.find('@', 1))), name);
  }
  CHECK((compared > 100 || output_of("nm --version").empty()));
}

TEST_CASE("elf functions: FDEs without symbols become functions without names") {
  const auto file = ElfFile::open("/proc/self/exe");
  const auto table = SymbolTable::from_elf(file);
  eh_frame_of(*file)->for_each([&](const Fde& fde) {
    CHECK((fde.range.empty() || table->find(fde.range.begin) != SymbolTable::kNone));
  });
}

TEST_CASE("plt names, demangling and foreign formats through libbfd") {
  CHECK(demangle("main") == "main");
  BfdLibrary* library = BfdLibrary::get();
  if (library == nullptr) {
    MESSAGE("skipped: " << BfdLibrary::load_failure());
    return;
  }
  CHECK(demangle("_ZN3foo3barEi") == "foo::bar(int)");
  CHECK(demangle("__ZN3foo3barEi") == "foo::bar(int)");
  CHECK(demangle("_RNvC3foo3bar") == "foo::bar");
  CHECK(demangle("_ZN4core3fmt5write17h0123456789abcdefE") == "core::fmt::write");
  CHECK(demangle("_D3foo3barFiZv") == "foo.bar(int)");
  CHECK(demangle("_Zebra") == "_Zebra");
  const auto file = ElfFile::open("/proc/self/exe");
  const auto plain = SymbolTable::from_elf(file);
  const auto named = with_plt_names(plain, *file);
  std::set<Address> slots;
  for (const Symbol& each : named->symbols()) {
    if (each.source == NameSource::plt) {
      slots.insert(each.range.begin);
      CHECK(each.name.ends_with("@plt"));
      CHECK(is_in_plt(*file, each.range.begin));
      CHECK(named->symbols()[named->find(each.range.begin)].source == NameSource::plt);
    }
  }
  // An FDE for a whole section of slots, which x86's linkers write, is no function that covers
  // them.
  bool told = false;
  eh_frame_of(*file)->for_each(
      [&](const Fde& fde) { told = told || slots.contains(fde.range.end - 16); });
  bool covered = false;
  for (const Symbol& each : plain->symbols()) {
    covered = covered || (each.name.empty() && slots.contains(each.range.end - 16));
  }
  CHECK(covered == told);
  for (const Symbol& each : named->symbols()) {
    const auto slot = slots.lower_bound(each.range.begin);
    CHECK((!each.name.empty() || slot == slots.end() || *slot >= each.range.end));
  }
  const auto through_bfd = table_from_bfd("/proc/self/exe");
  CHECK(through_bfd->symbols().size() > 100);
  CHECK_THROWS((void)table_from_bfd("/proc/self/status"));
}

// The oracle of the ELF reader: libbfd finds the same functions at the same addresses.
TEST_CASE("elf functions: libbfd agrees") {
  BfdLibrary* library = BfdLibrary::get();
  if (library == nullptr) {
    MESSAGE("skipped: " << BfdLibrary::load_failure());
    return;
  }
  const auto table = SymbolTable::from_elf(ElfFile::open("/proc/self/exe"));
  std::set<Address> starts;
  for (const Symbol& each : table->symbols()) {
    starts.insert(each.range.begin);
  }
  for (const BfdSymbol& each : library->open("/proc/self/exe")->symbols()) {
    const bool is_mark = each.name == "$x";  // AArch64's code begins there, no function
    CHECK_MESSAGE((!each.is_function || is_mark || starts.contains(each.address)), each.name);
  }
}
