#include <doctest/doctest.h>
#include <elf.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

#include "base/error.h"
#include "base/interrupt.h"
#include "object/elf_decompress.h"
#include "object/elf_dynamic.h"
#include "object/elf_file.h"
#include "object_elf_images.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

std::string text_of(ByteView view) {
  return {reinterpret_cast<const char*>(view.bytes().data()), view.size()};
}

Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Bytes zlib_compressed(const std::string& text) {
  Bytes out(compressBound(text.size()));
  uLongf size = out.size();
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  out.resize(size);
  return out;
}

Bytes with_header(std::uint32_t method, std::uint64_t size, const Bytes& data) {
  Elf64_Chdr header = {};
  header.ch_type = method;
  header.ch_size = size;
  Bytes out;
  append(out, &header, sizeof header);
  append(out, data.data(), data.size());
  return out;
}

SectionText compressed_section(const std::string& name, Bytes contents) {
  SectionText section{name, {}, std::move(contents)};
  section.header.sh_type = SHT_PROGBITS;
  section.header.sh_flags = SHF_COMPRESSED;
  return section;
}

// Everything that can be asked of a file, for inputs whose answers do not matter.
void ask_everything(const ElfFile& file) {
  for (const ElfSection& section : file.sections()) {
    (void)file.contents(section);
    (void)file.section_at(section.address);
  }
  for (const ElfSegment& segment : file.segments()) {
    (void)file.at(segment.address);
    (void)file.at(segment.address + segment.file_size - 1);
  }
  (void)file.notes();
  (void)file.interpreter();
  (void)soname_of(file);
  (void)file.load_range();
  (void)file.eh_frame_hdr();
  (void)file.eh_frame();
  (void)file.debug_frame();
}

}  // namespace

TEST_CASE("elf file: our own program") {
  const auto file = ElfFile::open("/proc/self/exe");
  CHECK(file->pointer_size() == sizeof(void*));
  CHECK(file->damage().empty());
  CHECK(file->section(".text") != nullptr);
  CHECK(file->section_at(file->entry())->name == ".text");
  CHECK(file->interpreter().find("ld") != std::string::npos);
  CHECK(file->load_range().contains(file->entry()));
  CHECK(file->eh_frame().has_value());
  const ElfSection& text = *file->section(".text");
  CHECK(text_of(*file->contents(text)).substr(0, 64) ==
        text_of(file->at(text.address)).substr(0, 64));
}

TEST_CASE("elf file: what is no ELF file says so") {
  CHECK_THROWS_WITH_AS((void)ElfFile::from_memory(bytes_of("#!/bin/sh\necho hello\n"), "x.sh"),
                       doctest::Contains("x.sh: is not an ELF file"), Error);
  CHECK_THROWS_AS((void)ElfFile::from_memory({}, "empty"), Error);
  Bytes short_header(20);
  std::memcpy(short_header.data(), ELFMAG "\2\1\1", 7);
  CHECK_THROWS_WITH_AS((void)ElfFile::from_memory(short_header, "cut"),
                       doctest::Contains("cut off inside its ELF header"), Error);
}

TEST_CASE("elf file: big-endian, 32 bits") {
  Bytes image(sizeof(Elf32_Ehdr));
  std::memcpy(image.data(), ELFMAG "\1\2\1", 7);
  put<std::uint16_t>(image, 16, swap_bytes<std::uint16_t>(ET_EXEC));
  put<std::uint16_t>(image, 18, swap_bytes<std::uint16_t>(EM_MIPS));
  put<std::uint32_t>(image, 24, swap_bytes<std::uint32_t>(0x400510));
  put<std::uint32_t>(image, 36, swap_bytes<std::uint32_t>(0x50001007));
  const auto file = ElfFile::from_memory(image, "mips");
  CHECK(file->identity().flags == 0x50001007);
  CHECK(file->pointer_size() == 4);
  CHECK(file->machine() == EM_MIPS);
  CHECK(file->entry() == 0x400510);
}

TEST_CASE("elf file: compressed sections") {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  Bytes zstd(ZSTD_compressBound(text.size()));
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
  Bytes old = bytes_of("ZLIB");
  put<std::uint64_t>(old, 4, swap_bytes<std::uint64_t>(text.size()));
  const Bytes zlib = zlib_compressed(text);
  append(old, zlib.data(), zlib.size());
  SectionText zdebug{".zdebug_frame", {}, old};
  zdebug.header.sh_type = SHT_PROGBITS;
  Bytes twice = zlib;
  append(twice, zlib.data(), zlib.size());
  Bytes damaged = zlib;
  damaged[damaged.size() / 2] ^= std::byte{0xff};
  const auto file = ElfFile::from_memory(
      image_with({compressed_section("zlib", with_header(1, text.size(), zlib)),
                  compressed_section("zstd", with_header(2, text.size(), zstd)), zdebug,
                  compressed_section("twice", with_header(1, 2 * text.size(), twice)),
                  compressed_section("unknown", with_header(7, text.size(), zlib)),
                  compressed_section("damaged", with_header(1, text.size(), damaged)),
                  compressed_section("shorter", with_header(1, text.size() + 1, zlib)),
                  compressed_section("longer", with_header(1, text.size() - 1, zlib))}),
      "compressed");
  CHECK(text_of(*file->contents(*file->section("zlib"))) == text);
  CHECK(text_of(*file->contents(*file->section("zstd"))) == text);
  CHECK(text_of(*file->contents(*file->section("twice"))) == text + text);
  CHECK(text_of(file->debug_frame()->bytes) == text);
  CHECK_FALSE(file->contents(*file->section("unknown")));
  CHECK_FALSE(file->contents(*file->section("damaged")));
  CHECK_FALSE(file->contents(*file->section("shorter")));
  CHECK_FALSE(file->contents(*file->section("longer")));
  CHECK(file->contents(*file->section("zlib"))->bytes().data() ==
        file->contents(*file->section("zlib"))->bytes().data());
}

TEST_CASE("elf file: Ctrl-C ends the inflating of a section, and it is inflated anew") {
  struct Stop {};
  const std::string text(std::size_t{10} << 20U, 'x');
  const Bytes zlib = zlib_compressed(text);
  const auto file = ElfFile::from_memory(
      image_with({compressed_section("zlib", with_header(1, text.size(), zlib))}), "compressed");
  set_interrupt_check([] {
    static int checks = 0;
    if (++checks == 2) {  // in its middle
      throw Stop();
    }
  });
  CHECK_THROWS_AS(static_cast<void>(file->contents(*file->section("zlib"))), Stop);
  set_interrupt_check(nullptr);
  const auto contents = file->contents(*file->section("zlib"));
  REQUIRE(contents);
  CHECK(text_of(*contents) == text);
}

TEST_CASE("elf file: a compression bomb is a miss") {
  const Bytes data = zlib_compressed(std::string(1000, 'x'));
  const auto file = ElfFile::from_memory(
      image_with({compressed_section("huge", with_header(1, std::uint64_t{1} << 40, data)),
                  compressed_section("ratio", with_header(2, kLargestSection, data))}),
      "bomb");
  CHECK_FALSE(file->contents(*file->section("huge")));
  CHECK_FALSE(file->contents(*file->section("ratio")));
}

TEST_CASE("elf file: sections without bytes or outside the file") {
  SectionText bss{".bss", {}, {}};
  bss.header.sh_type = SHT_NOBITS;
  bss.header.sh_size = 4096;
  Bytes image = image_with({bss});
  Elf64_Shdr outside = {};
  outside.sh_type = SHT_PROGBITS;
  outside.sh_offset = ~std::uint64_t{0} - 5;
  outside.sh_size = 100;
  const auto table = ElfFile::from_memory(image, "x")->bytes().read<std::uint64_t>(40).value();
  put(image, table, outside);
  const auto file = ElfFile::from_memory(image, "x");
  CHECK_FALSE(file->contents(*file->section(".bss")));
  CHECK_FALSE(file->contents(file->sections()[0]));
  CHECK(file->damage().find("bytes are missing") != std::string::npos);
}

TEST_CASE("elf file: extended numbering of sections and segments") {
  Bytes image(sizeof(Elf64_Ehdr));
  Elf64_Shdr zero = {};
  zero.sh_size = 3;
  zero.sh_link = 2;
  zero.sh_info = 2;
  Elf64_Shdr names = {};
  names.sh_type = SHT_STRTAB;
  names.sh_size = 1;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  Elf64_Ehdr header = header64();
  header.e_phoff = image.size();
  append(image, &segment, sizeof segment);
  append(image, &segment, sizeof segment);
  header.e_shoff = image.size();
  for (const Elf64_Shdr* each : {&zero, &names, &names}) {
    append(image, each, sizeof *each);
  }
  header.e_phnum = PN_XNUM;
  header.e_shnum = 0;
  header.e_shstrndx = SHN_XINDEX;
  put(image, 0, header);
  const auto file = ElfFile::from_memory(image, "extended");
  CHECK(file->segments().size() == 2);
  CHECK(file->sections().size() == 3);
  CHECK(file->damage().empty());
}

TEST_CASE("elf file: a truncated core opens and says what is missing") {
  Bytes image(sizeof(Elf64_Ehdr));
  Elf64_Ehdr header = header64(ET_CORE);
  header.e_phoff = image.size();
  header.e_phnum = 3000;
  constexpr std::uint64_t kData = sizeof(Elf64_Ehdr) + 3000 * sizeof(Elf64_Phdr);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Elf64_Phdr segment = {};
    segment.p_type = PT_LOAD;
    segment.p_offset = kData + i * 16;
    segment.p_vaddr = 0x10000 + i * 0x1000;
    segment.p_filesz = 16;
    segment.p_memsz = 0x1000;
    append(image, &segment, sizeof segment);
  }
  put(image, 0, header);
  image.resize(kData + 1000 * 16 + 8);
  const auto core = ElfFile::from_memory(image, "core");
  CHECK(core->segments().size() == 3000);
  CHECK(core->damage().ends_with(": 31992 bytes are missing"));
  CHECK(core->at(0x10000).size() == 16);
  CHECK(core->at(0x10000 + 999 * 0x1000 + 15).size() == 1);
  CHECK(core->at(0x10000 + 1000 * 0x1000).size() == 8);
  CHECK(core->at(0x10000 + 1001 * 0x1000).empty());
  CHECK(core->at(0x10010).empty());
  CHECK(core->load_range() == AddressRange{0x10000, 0x10000 + 3000 * 0x1000});

  image.resize(sizeof(Elf64_Ehdr) + 10 * sizeof(Elf64_Phdr) + 3);
  const auto cut = ElfFile::from_memory(image, "core");
  CHECK(cut->segments().size() == 10);
  CHECK(cut->damage().find("2990 of 3000 are missing") != std::string::npos);
}

TEST_CASE("elf file: notes") {
  Bytes area;
  const auto add = [&](std::uint32_t type, const std::string& owner, const std::string& contents) {
    const std::uint32_t head[3] = {static_cast<std::uint32_t>(owner.size() + 1),
                                   static_cast<std::uint32_t>(contents.size()), type};
    append(area, head, sizeof head);
    append(area, owner.c_str(), owner.size() + 1);
    area.resize((area.size() + 3) / 4 * 4);
    append(area, contents.data(), contents.size());
    area.resize((area.size() + 3) / 4 * 4);
  };
  add(NT_PRSTATUS, "CORE", "12345");
  add(NT_GNU_BUILD_ID, "GNU", "\xde\xad\x0e");
  SUBCASE("whole") {
    const auto notes = parse_notes(ByteView(area, Endian::little), 4);
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].owner == "CORE");
    CHECK(text_of(notes[0].contents) == "12345");
    CHECK(notes[1].type == NT_GNU_BUILD_ID);
  }
  SUBCASE("cut off") {
    area.resize(area.size() - 5);
    CHECK(parse_notes(ByteView(area, Endian::little), 0).size() == 1);
  }
  SUBCASE("build id") {
    SectionText section{".note", {}, area};
    section.header.sh_type = SHT_NOTE;
    section.header.sh_flags = SHF_ALLOC;
    CHECK(ElfFile::from_memory(image_with({section}), "x")->build_id() == "dead0e");
  }
}

TEST_CASE("elf file: damaged images never lead out of bounds") {
  const Bytes whole = read_bytes("/proc/self/exe");
  const Bytes head(whole.begin(), whole.begin() + std::min<std::ptrdiff_t>(whole.size(), 1 << 16));
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    Bytes image = head;
    for (int i = 0; i < 40; ++i) {
      image[random() % (i < 20 ? 1024 : image.size())] = static_cast<std::byte>(random());
    }
    std::memcpy(image.data(), ELFMAG, SELFMAG);
    image.resize(random() % image.size());
    try {
      ask_everything(*ElfFile::from_memory(image, "damaged"));
    } catch (const Error&) {
      continue;
    }
  }
}
