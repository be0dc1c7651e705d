// What the ELF writer writes, our own reader reads back.
#include "symfile/elf_writer.h"

#include <doctest/doctest.h>

#include <string>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base/error.h"
#include "object_elf_images.h"
#include "unwind_module.h"

using namespace whocall;
namespace image = whocall::testing;

namespace {

constexpr AddressRange kText{0x1000, 0x2000};
constexpr AddressRange kData{0x3000, 0x3800};

image::SectionText section(const char* name, std::uint32_t type, std::uint64_t flags,
                           const AddressRange& range, image::Bytes contents = {}) {
  Elf64_Shdr header = {};
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_addr = range.begin;
  header.sh_size = range.size();
  header.sh_addralign = 16;
  return {name, header, std::move(contents)};
}

image::Bytes build_id_note() {
  image::Bytes note;
  const std::uint32_t head[] = {4, 4, NT_GNU_BUILD_ID};
  image::append(note, head, sizeof head);
  image::append(note, "GNU\0\x12\x34\x56\x78", 8);
  return note;
}

std::vector<image::SectionText> usual_sections() {
  return {section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, {0x200, 0x214}, build_id_note()),
          section(".tbss", SHT_NOBITS, SHF_ALLOC | SHF_TLS | SHF_WRITE, {0x1000, 0x1100}),
          section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kText, image::Bytes(0x1000)),
          section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, kData, image::Bytes(0x800)),
          section(".comment", SHT_PROGBITS, 0, {0, 0}, image::Bytes(7))};
}

std::shared_ptr<const ElfFile> file_of(image::Bytes bytes) {
  return ElfFile::from_memory(std::move(bytes), "original");
}

std::shared_ptr<const ElfFile> written(const ElfFile& file,
                                       const std::vector<WrittenSymbol>& symbols,
                                       const image::Bytes& debug_frame = {}) {
  WrittenSymbols added;
  for (const WrittenSymbol& symbol : symbols) {
    added.add(symbol);
  }
  const auto bytes = write_debug_file(file, added, {.frame = debug_frame});
  CHECK(bytes == write_debug_file(file, added, {.frame = debug_frame}));
  auto made = ElfFile::from_memory(bytes, "written");
  CHECK(made->damage().empty());
  return made;
}

struct ReadSymbol {
  std::string name;
  AddressRange range;
  unsigned binding = 0;
  unsigned type = 0;
  unsigned section = 0;
};

template <typename Sym>
std::vector<ReadSymbol> read_symbols(const ElfFile& file) {
  const ElfSection* table = file.section(".symtab");
  REQUIRE(table != nullptr);
  CHECK(table->entry_size == sizeof(Sym));
  const ElfSection& strings = file.sections()[table->link];
  CHECK(strings.name == ".strtab");
  const ByteView names = *file.contents(strings);
  const ByteView bytes = *file.contents(*table);
  std::vector<ReadSymbol> symbols;
  for (std::uint64_t at = 0; at < bytes.size(); at += sizeof(Sym)) {
    Sym symbol = {};
    std::memcpy(&symbol, bytes.bytes().data() + at, sizeof symbol);
    const std::string name(reinterpret_cast<const char*>(names.bytes().data()) + symbol.st_name);
    symbols.push_back({name,
                       {symbol.st_value, symbol.st_value + symbol.st_size},
                       static_cast<unsigned>(ELF64_ST_BIND(symbol.st_info)),
                       static_cast<unsigned>(ELF64_ST_TYPE(symbol.st_info)),
                       symbol.st_shndx});
    CHECK((ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) == (symbols.size() <= table->info));
  }
  return symbols;
}

}  // namespace

TEST_CASE("elf writer: loaded sections keep their name, place and size, and lose their contents") {
  auto bytes = image::image_with(usual_sections());
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_entry = 0x1230;
  image::put(bytes, 0, header);
  const auto file = file_of(std::move(bytes));
  const auto made = written(*file, {});
  CHECK(made->type() == ET_DYN);
  CHECK(made->machine() == EM_X86_64);
  CHECK(made->entry() == 0x1230);
  CHECK(made->build_id() == "12345678");
  CHECK(made->segments().empty());
  for (const char* name : {".tbss", ".text", ".data"}) {
    CAPTURE(name);
    const ElfSection* before = file->section(name);
    const ElfSection* after = made->section(name);
    REQUIRE(after != nullptr);
    CHECK(after->type == SHT_NOBITS);
    CHECK(after->range() == before->range());
    CHECK(after->flags == before->flags);
    CHECK(after->alignment == before->alignment);
    CHECK_FALSE(made->contents(*after));
  }
  CHECK(made->section(".comment") == nullptr);
  CHECK(made->section(".debug_frame") == nullptr);
}

TEST_CASE("elf writer: symbols are functions in their sections, local ones first") {
  const auto file = file_of(image::image_with(usual_sections()));
  const auto made = written(*file, {{{0x1010, 0x1020}, "_ZN1a1bEv", true},
                                    {{0x1020, 0x1020}, "sub_1020", false},
                                    {{0x3010, 0x3018}, "in data", true},
                                    {{0x8000, 0x8001}, "nowhere", false}});
  const auto symbols = read_symbols<Elf64_Sym>(*made);
  REQUIRE(symbols.size() == 5);
  const auto is = [&](const ReadSymbol& symbol, const char* name, AddressRange range,
                      unsigned binding, const char* where) {
    CAPTURE(name);
    CHECK(symbol.name == name);
    CHECK(symbol.range == range);
    CHECK(symbol.type == STT_FUNC);
    CHECK(symbol.binding == binding);
    CHECK(symbol.section == (where != nullptr ? made->section(where)->index : SHN_ABS));
  };
  CHECK(symbols[0].name.empty());
  is(symbols[1], "sub_1020", {0x1020, 0x1020}, STB_LOCAL, ".text");  // not in .tbss
  is(symbols[2], "nowhere", {0x8000, 0x8001}, STB_LOCAL, nullptr);
  is(symbols[3], "_ZN1a1bEv", {0x1010, 0x1020}, STB_GLOBAL, ".text");
  is(symbols[4], "in data", {0x3010, 0x3018}, STB_GLOBAL, ".data");
}

TEST_CASE("elf writer: the rules are a section of their own") {
  const auto file = file_of(image::image_with(usual_sections()));
  const image::Bytes rules(13, std::byte{0x5a});
  const auto made = written(*file, {}, rules);
  const ElfSection* section = made->section(".debug_frame");
  REQUIRE(section != nullptr);
  CHECK((section->flags & SHF_ALLOC) == 0);
  CHECK(section->offset % 8 == 0);
  const auto contents = made->contents(*section)->bytes();
  CHECK(image::Bytes(contents.begin(), contents.end()) == rules);
}

TEST_CASE("elf writer: 32-bit files") {
  const auto file = test::make_module(kI386, {.code = {0x8048000, 0x8049000}, .entry = 0x8048100});
  const auto made = written(*file, {{{0x8048010, 0x8048020}, "f", true}});
  CHECK(made->pointer_size() == 4);
  CHECK(made->machine() == EM_386);
  CHECK(made->entry() == 0x8048100);
  const auto symbols = read_symbols<Elf32_Sym>(*made);
  REQUIRE(symbols.size() == 2);
  CHECK(symbols[1].name == "f");
  CHECK(symbols[1].range == AddressRange{0x8048010, 0x8048020});
  CHECK(symbols[1].section == made->section(".text")->index);
}

TEST_CASE("elf writer: segments stand in for section headers that are gone") {
  image::Bytes bytes(0x1000);
  Elf64_Phdr segments[3] = {};
  segments[0] = {PT_LOAD, PF_R, 0, 0, 0, 0x800, 0x800, 0x1000};
  segments[1] = {PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x1000, 0x800, 0x800, 0x1000};
  segments[2] = {PT_LOAD, PF_R | PF_W, 0, 0x3000, 0x3000, 0, 0x800, 0x1000};
  Elf64_Ehdr header = image::header64();
  header.e_phoff = sizeof header;
  header.e_phnum = 3;
  image::put(bytes, 0, header);
  image::put(bytes, sizeof header, segments);
  const auto file = file_of(std::move(bytes));
  const auto made = written(*file, {{{0x1010, 0x1020}, "f", true}, {{0x3000, 0x3001}, "d", true}});
  const ElfSection* text = made->section(".text");
  REQUIRE(text != nullptr);
  CHECK(text->range() == AddressRange{0x1000, 0x1800});
  CHECK(text->flags == (SHF_ALLOC | SHF_EXECINSTR));
  const auto symbols = read_symbols<Elf64_Sym>(*made);
  CHECK(symbols[1].section == text->index);
  CHECK(made->sections()[symbols[2].section].range() == AddressRange{0x3000, 0x3800});
  CHECK(made->sections()[symbols[2].section].flags == (SHF_ALLOC | SHF_WRITE));
}

TEST_CASE("elf writer: more sections than can be numbered are refused") {
  for (const std::size_t count : {std::size_t{60'000}, std::size_t{65'200}}) {
    CAPTURE(count);
    auto bytes = image::image_with(
        std::vector(count, section("", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {0x1000, 0x1000})));
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.e_shnum = 0;
    header.e_shstrndx = SHN_XINDEX;
    image::put(bytes, 0, header);
    Elf64_Shdr numbers = {};
    numbers.sh_size = count + 2;
    numbers.sh_link = static_cast<Elf64_Word>(count + 1);
    image::put(bytes, header.e_shoff, numbers);
    const auto file = file_of(std::move(bytes));
    REQUIRE(file->sections().size() == count + 2);
    if (count < 0xfe00) {
      CHECK(written(*file, {})->sections().size() == count + 4);
    } else {
      CHECK_THROWS_AS(write_debug_file(*file, {}, {}), Error);
    }
  }
}
