// The list of a JIT compiler's ELF files: followed as far as it makes sense, and what is wrong
// said.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "arch/arm/facts.h"
#include "arch/x86/i386_facts.h"
#include "base/hex.h"
#include "jit_object_images.h"
#include "process/jit/jit_objects.h"
#include "process/jit/jit_registry.h"
#include "symbols/jit/jit_names.h"
#include "symbols/jit/jit_object_names.h"

using namespace whocall;
using namespace whocall::test;

namespace {

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    text += (text.empty() ? "" : " ") + sentence;
  }
  return text;
}

std::string names_of(const JitObject& object, const Architecture& arch = kX86_64) {
  std::string text;
  for (const JitFunction& function : functions_of(object, arch)) {
    text += function.name + " " + hex(function.range.begin) + " " + hex(function.range.end) + "; ";
  }
  return text;
}

std::string name_at(const ProcessImage& image, Address address) {
  JitNames names(image);
  const JitFunction* found = names.at(address);
  return found == nullptr ? "" : found->name;
}

}  // namespace

TEST_CASE("jit objects: functions, by section in object files and by address in others") {
  for (const std::uint16_t type : {std::uint16_t{ET_REL}, std::uint16_t{ET_EXEC}}) {
    JitProcess process;
    process.add(usual_object(type));
    const auto image = process.image();
    const JitObjects& objects = jit_objects_of(*image);
    REQUIRE(objects.all().size() == 1);
    CHECK(objects.remarks().empty());
    CHECK(objects.at(kJitCode + 0xff) == objects.all().data());
    CHECK(objects.at(kJitCode + 0x100) == nullptr);
    CHECK(objects.at(kJitCode - 1) == nullptr);
    CHECK(names_of(objects.all()[0]) == "low 0x70000000 0x70000020; high 0x70000040 0x70000100; ");
    CHECK(name_at(*image, kJitCode + 0x1f) == "low");
    CHECK(name_at(*image, kJitCode + 0x20).empty());
    JitNames names(*image);
    REQUIRE(names.at(kJitCode + 0x41) != nullptr);
    CHECK(names.at(kJitCode + 0x41)->source == NameSource::jit_object);
  }
}

TEST_CASE("jit objects: the bit of T32 is no part of where a function begins") {
  JitProcess process;
  std::vector<testing::SectionText> sections;
  sections.push_back(part(".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, kJitCode, Bytes()));
  sections.back().header.sh_size = 0x3a;
  SymbolParts().add("method", STT_FUNC, 1, kJitCode + 1, 0x3a).append_to(sections);
  process.add(elf_of(ET_EXEC, std::move(sections)));
  const auto image = process.image();
  const JitObject& object = jit_objects_of(*image).all()[0];
  CHECK(names_of(object, kArm) == "method 0x70000000 0x7000003a; ");
  CHECK(names_of(object) == "method 0x70000001 0x7000003a; ");
}

TEST_CASE("jit objects: where code was freed and used again, the newest names it") {
  JitProcess process;
  process.add(usual_object(ET_REL));
  std::vector<testing::SectionText> sections;
  sections.push_back(
      part(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kJitCode, Bytes().fill(0x30, 0xcc)));
  SymbolParts().add("newer", STT_FUNC, 1, 0, 0x30).append_to(sections);
  process.add(elf_of(ET_REL, std::move(sections)));
  const auto image = process.image();
  CHECK(name_at(*image, kJitCode + 0x10) == "newer");
  CHECK(name_at(*image, kJitCode + 0x50) == "high");
  CHECK(jit_objects_of(*image).at(kJitCode) == jit_objects_of(*image).all().data());
  CHECK(jit_objects_of(*image).at(kJitCode + 0x50) == jit_objects_of(*image).all().data() + 1);
}

TEST_CASE("jit objects: a whole buffer in one symbol gives way to functions") {
  JitProcess process;
  process.add(usual_object(ET_REL));
  std::vector<testing::SectionText> sections;
  sections.push_back(part(".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, kJitCode, Bytes()));
  sections.back().header.sh_size = 0x200000;
  SymbolParts().add("code_gen_buffer", STT_FUNC, 1, kJitCode, 0x200000).append_to(sections);
  process.add(elf_of(ET_EXEC, std::move(sections)));
  const auto image = process.image();
  JitNames names(*image);
  REQUIRE(names.at(kJitCode + 0x50) != nullptr);
  CHECK(names.at(kJitCode + 0x50)->name == "high");
  CHECK(names.registered_function_at(kJitCode + 0x50) ==
        AddressRange{kJitCode + 0x40, kJitCode + 0x100});
}

TEST_CASE("jit objects: a buffer is no function") {
  JitProcess process;
  std::vector<testing::SectionText> sections;
  sections.push_back(part(".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, kJitCode, Bytes()));
  sections.back().header.sh_size = 0x200000;
  SymbolParts().add("code_gen_buffer", STT_FUNC, 1, kJitCode, 0x200000).append_to(sections);
  process.add(elf_of(ET_EXEC, std::move(sections)));
  const auto image = process.image();
  CHECK(name_at(*image, kJitCode + 0x300) == "code_gen_buffer");
  CHECK(!JitNames(*image).registered_function_at(kJitCode + 0x300));
}

TEST_CASE("jit registry: lists that make no sense end with a sentence") {
  JitProcess process;
  const Address entry = process.add(usual_object(ET_REL));
  std::string why;
  std::size_t found = 1;
  SUBCASE("a circle") {
    process.map(entry, Bytes().u64(entry).u64(0).u64(0x20000000).u64(64).get());
    why = "runs in a circle at 0x10000000";
  }
  SUBCASE("an entry that is not there") {
    process.map(entry, Bytes().u64(0x8).u64(0).u64(0x20000000).u64(64).get());
    why = "cannot be read at 0x8";
  }
  SUBCASE("another version") {
    process.version = 2;
    found = 0;
    why = "has version 2, not 1";
  }
  SUBCASE("the end of the address space") {
    process.first = ~Address{0} - 7;
    found = 0;
    why = "cannot be read at 0xfffffffffffffff8";
  }
  const auto image = process.image();
  const JitRegistry registry = read_jit_registry(*image->memory, kX86_64, kDescriptor, "/bin/jit");
  CHECK(registry.files.size() == found);
  CHECK(registry.remark == "The list of JIT code that /bin/jit keeps for debuggers " + why +
                               ": what it has behind that lends no names.");
  CHECK(joined(jit_objects_of(*image).remarks()).find(registry.remark) != std::string::npos);
}

TEST_CASE("jit registry: an empty list of any version says nothing") {
  JitProcess process;
  process.version = 0;
  CHECK(jit_objects_of(*process.image()).remarks().empty());
}

TEST_CASE("jit registry: the layout of 32-bit programs") {
  // i386 aligns the 64-bit size at 4 bytes.
  const Bytes memory_bytes = Bytes()
                                 .u32(1)
                                 .u32(1)
                                 .u32(0x1010)
                                 .u32(0x1010)  // descriptor
                                 .u32(0x1024)
                                 .u32(0)
                                 .u32(0x2000)
                                 .u64(0x300)
                                 .u32(0)
                                 .u32(0x1010)
                                 .u32(0x3000)
                                 .u64(0x400);
  const SegmentMemory memory({{0x1000, memory_bytes.get()}});
  const JitRegistry registry = read_jit_registry(memory, kI386, 0x1000, "x");
  CHECK(registry.remark.empty());
  REQUIRE(registry.files.size() == 2);
  CHECK(registry.files[0].address == 0x2000);
  CHECK(registry.files[0].size == 0x300);
  CHECK(registry.files[1].address == 0x3000);
  CHECK(registry.files[1].size == 0x400);
}

TEST_CASE("jit objects: files that are none are counted, the others lend their names") {
  JitProcess process;
  process.add(usual_object(ET_REL));
  process.add_entry(0x20000000, 0);
  process.add_entry(0x20000000, ~std::uint64_t{0});
  process.add_entry(0x20000000, std::uint64_t{60} << 20U);  // it has not so much
  process.add_entry(8, 64);
  process.add_entry(0x20000000, 64);  // cut off
  process.add(Bytes().fill(200, 0x5a).get());
  auto foreign = usual_object(ET_REL);
  testing::put(foreign, offsetof(Elf64_Ehdr, e_machine), std::uint16_t{EM_AARCH64});
  process.add(foreign);
  const auto image = process.image();
  CHECK(name_at(*image, kJitCode) == "low");
  const std::string begin = "Of the files by which /bin/jit tells debuggers of its code, ";
  const std::string end = ": no names are taken from there.";
  CHECK(joined(jit_objects_of(*image).remarks()) ==
        begin + "2 cannot be read from memory" + end + " " + begin +
            "2 cannot be as large as listed" + end + " " + begin +
            "1 have a form of their own, as for a reader that comes with the program" + end + " " +
            begin + "2 tell of no code of this machine" + end);
}

TEST_CASE("jit objects: what costs the same again and again is stopped") {
  JitProcess process;
  process.map(0x60000000, std::vector<std::byte>(std::size_t{1} << 20U));
  for (int i = 0; i < 1000; ++i) {
    process.add_entry(0x60000000, std::uint64_t{1} << 20U);
  }
  CHECK(joined(jit_objects_of(*process.image()).remarks()).find(", 744 cannot be as large") !=
        std::string::npos);
}

TEST_CASE("jit objects: code at the very end of the address space is none") {
  JitProcess process;
  std::vector<testing::SectionText> sections;
  sections.push_back(part(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, ~Address{0},
                          Bytes().fill(0x30, 0xcc)));
  process.add(elf_of(ET_REL, std::move(sections)));
  const auto image = process.image();
  CHECK(jit_objects_of(*image).all().empty());
  CHECK(jit_objects_of(*image).remarks().size() == 1);
}
