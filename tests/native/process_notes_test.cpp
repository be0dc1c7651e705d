#include <doctest/doctest.h>

#include "process/auxiliary_vector.h"
#include "process/core/core_file.h"
#include "process/core/core_mappings.h"
#include "process/core/core_notes.h"
#include "process/process_image.h"
#include "process_core_builder.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

const Architecture& x86_64() { return *find_architecture("x86_64"); }
const Architecture& i386() { return *find_architecture("i386"); }

// The note's bytes must outlive what is read from it.
ElfNote core_note(std::uint32_t type, const Bytes& contents) {
  return {"CORE", type, ByteView(contents, Endian::little)};
}

}  // namespace

TEST_CASE("the kernel's cores: the first thread has crashed") {
  for (const Architecture* arch : {&x86_64(), &i386()}) {
    const Bytes first = prstatus(*arch, 12, 11, 0x1234, 0x8000);
    const Bytes info = prpsinfo(*arch, 10, "prog", "./prog -x ");
    const Bytes signal = siginfo(*arch, 11, 1, 0xabc);
    const Bytes second = prstatus(*arch, 13, 11, 0x2222, 0x9000);
    const std::vector<ElfNote> list = {core_note(NT_PRSTATUS, first), core_note(NT_PRPSINFO, info),
                                       core_note(NT_SIGINFO, signal),
                                       core_note(NT_PRSTATUS, second)};
    const CoreNotes notes = read_core_notes(list, *arch);
    REQUIRE(notes.threads.size() == 2);
    CHECK(notes.pid == 10);
    CHECK(notes.name == "prog");
    CHECK(notes.command_line.text == "./prog -x");
    CHECK(notes.threads[0].lwp == 12);
    CHECK(notes.threads[0].number == 1);
    CHECK(notes.threads[0].name == "prog");
    CHECK(notes.threads[0].crashed);
    CHECK(notes.threads[0].signal == 11);
    REQUIRE(notes.threads[0].signal_info.has_value());
    CHECK(notes.threads[0].signal_info->code == 1);
    CHECK(notes.threads[0].signal_info->address == 0xabc);
    CHECK_FALSE(notes.threads[1].signal_info.has_value());
    CHECK(notes.threads[0].registers.get(arch->registers.return_address) == 0x1234);
    CHECK(notes.threads[0].registers.get(arch->registers.sp) == 0x8000);
    CHECK_FALSE(notes.threads[1].crashed);
    CHECK(notes.threads[1].signal == 0);
    CHECK(notes.warnings.empty());
  }
}

TEST_CASE("the kernel's cores of AArch64 say which bits of a code pointer are its signature") {
  const Architecture& arch = *find_architecture("aarch64");
  const auto open = [&](Bytes mask, const Architecture& of) {
    const TemporaryDirectory directory;
    const Bytes core = CoreBuilder(of)
                           .note(NT_PRSTATUS, prstatus(of, 12, 11, 0x1234, 0x8000))
                           .note(NT_ARM_PAC_MASK, mask, "LINUX")
                           .build();
    return open_core(directory.write("core", core), {})->arch;
  };
  const auto mask_above = [](unsigned size) {
    Bytes note;
    append_word(note, 0x7f000000000000, 8);  // of data
    append_word(note, ((Address{1} << 55) - 1) & ~((Address{1} << size) - 1), 8);
    return note;
  };
  constexpr Address kSigned = 0x7fabcdef12345678;
  CHECK(arch.code_address(kSigned) == 0xcdef12345678);
  const Architecture* const small = open(mask_above(39), arch);
  CHECK(small->code_address(kSigned) == (kSigned & ((Address{1} << 39) - 1)));
  CHECK(small->name == arch.name);
  CHECK(open(mask_above(39), arch) == small);
  CHECK(open(mask_above(52), arch)->code_address(kSigned) == (kSigned & ((Address{1} << 52) - 1)));
  CHECK(open(mask_above(48), arch) == &arch);
  // No kernel's, too short, and of an instruction set without signatures.
  CHECK(open(mask_above(3), arch) == &arch);
  CHECK(open(Bytes(16), arch) == &arch);
  CHECK(open(Bytes(9), arch) == &arch);
  CHECK(open(mask_above(39), x86_64()) == &x86_64());
}

TEST_CASE("gcore's cores: a thread that was only looked at has not crashed") {
  const Architecture& arch = x86_64();
  const Bytes info = prpsinfo(arch, 10, "prog", "prog");
  for (const int signal : {0, 5, 19, 11}) {
    const Bytes thread = prstatus(arch, 12, static_cast<std::uint16_t>(signal), 1, 2);
    const std::vector<ElfNote> list = {core_note(NT_PRPSINFO, info),
                                       core_note(NT_PRSTATUS, thread)};
    const CoreNotes notes = read_core_notes(list, arch);
    REQUIRE(notes.threads.size() == 1);
    CHECK(notes.threads[0].crashed == (signal == 11));
  }
}

TEST_CASE("a register note of another size costs its thread, and is told") {
  const Bytes thread = prstatus(i386(), 12, 11, 1, 2);
  const std::vector<ElfNote> list = {core_note(NT_PRSTATUS, thread)};
  const CoreNotes notes = read_core_notes(list, x86_64());
  CHECK(notes.threads.empty());
  REQUIRE(notes.warnings.size() == 1);
  CHECK(notes.warnings[0].find("144 bytes instead of 336") != std::string::npos);
}

TEST_CASE("notes cut off at any byte") {
  const Architecture& arch = x86_64();
  for (const auto& [type, whole] :
       {std::pair<std::uint32_t, Bytes>{NT_PRSTATUS, prstatus(arch, 1, 11, 1, 2)},
        {NT_PRPSINFO, prpsinfo(arch, 10, "prog", "prog")},
        {NT_SIGINFO, siginfo(arch, 11, 1, 0xabc)},
        {NT_AUXV, auxiliary_vector(arch, {{AT_ENTRY, 7}})},
        {NT_FILE, file_note(arch, {{0x1000, 0x2000, 0, "/a"}, {0x2000, 0x3000, 1, "/b"}})}}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes cut = part_of(whole, 0, size);  // its own allocation: reads beyond are seen
      const std::vector<ElfNote> list = {core_note(type, cut)};
      read_core_notes(list, arch);
    }
  }
}

TEST_CASE("NT_FILE in both sizes, and with hostile counts") {
  for (const Architecture* arch : {&x86_64(), &i386()}) {
    Bytes note = file_note(*arch, {{0x1000, 0x3000, 2, "/lib/a b.so"}, {0x5000, 0x5000, 0, "/e"}});
    const auto files = parse_file_note(ByteView(note, Endian::little), arch->abi.pointer_size);
    REQUIRE(files.size() == 1);
    CHECK(files[0].range == AddressRange{0x1000, 0x3000});
    CHECK(files[0].offset == 0x2000);
    CHECK(files[0].path == "/lib/a b.so");
    for (const std::uint64_t count :
         {std::uint64_t{3}, std::uint64_t{0x7fffffff}, ~std::uint64_t{0}}) {
      std::memcpy(note.data(), &count, arch->abi.pointer_size);
      for (const auto& file :
           parse_file_note(ByteView(note, Endian::little), arch->abi.pointer_size)) {
        CHECK_FALSE(file.range.empty());
      }
    }
  }
}

TEST_CASE("NT_FILE of a 32-bit program in words of 8 bytes") {
  const std::vector<FileRow> rows = {{0x1000, 0x3000, 2, "/lib/a.so"}};
  const Bytes wide = file_note(x86_64(), rows);
  for (const Architecture* arch : {&x86_64(), &i386()}) {
    const std::vector<ElfNote> list = {core_note(NT_FILE, wide)};
    const CoreNotes notes = read_core_notes(list, *arch);
    REQUIRE(notes.files.size() == 1);
    CHECK(notes.files[0].range == AddressRange{0x1000, 0x3000});
    CHECK(notes.files[0].offset == 0x2000);
    CHECK(notes.files[0].path == "/lib/a.so");
  }
  const Bytes narrow = file_note(i386(), rows);
  const std::vector<ElfNote> list = {core_note(NT_FILE, narrow)};
  CHECK(read_core_notes(list, x86_64()).files.empty());
}

TEST_CASE("the size of a register note") {
  const Bytes wide = prstatus(x86_64(), 12, 11, 1, 2);
  const Bytes narrow = prstatus(i386(), 13, 11, 1, 2);
  const ElfNote tag{"GNU", NT_PRSTATUS, ByteView(narrow, Endian::little)};  // another one's number
  const std::vector<ElfNote> list = {tag, core_note(NT_PRSTATUS, wide),
                                     core_note(NT_PRSTATUS, narrow)};
  CHECK(register_note_size(list) == wide.size());
  CHECK(register_note_size(std::span(list).first(1)) == 0);
}

TEST_CASE("the auxiliary vector") {
  const Bytes note = auxiliary_vector(
      x86_64(), {{AT_PHDR, 0x40}, {AT_ENTRY, 0x50}, {AT_BASE, 0}, {AT_SYSINFO_EHDR, 0x60}});
  const auto auxiliary = parse_auxiliary_vector(ByteView(note, Endian::little), 8);
  CHECK(auxiliary.program_headers == Address{0x40});
  CHECK(auxiliary.entry == Address{0x50});
  CHECK_FALSE(auxiliary.interpreter.has_value());
  CHECK(auxiliary.vdso == Address{0x60});
}

TEST_CASE("mappings of a core are sorted and disjoint, with the files' names") {
  const auto segment = [](Address address, std::uint64_t size, std::uint32_t flags) {
    ElfSegment result;
    result.type = PT_LOAD;
    result.flags = flags;
    result.address = address;
    result.memory_size = size;
    return result;
  };
  const std::vector<ElfSegment> segments = {segment(0x8000, 0x1000, PF_R | PF_W),
                                            segment(0x1000, 0x4000, PF_R | PF_X),
                                            segment(0x4000, 0x2000, PF_R)};
  const std::vector<MappedFileNote> files = {{{0x2000, 0x3000}, 0x5000, "/a"},
                                             {{0x9000, 0xa000}, 0, "/b"}};
  const auto mappings = core_mappings(segments, files);
  REQUIRE(mappings.size() == 6);
  CHECK(mappings[0].range == AddressRange{0x1000, 0x2000});
  CHECK(mappings[0].path.empty());
  CHECK(mappings[1].range == AddressRange{0x2000, 0x3000});
  CHECK(mappings[1].path == "/a");
  CHECK(mappings[1].offset == 0x5000);
  CHECK(mappings[1].executable);
  CHECK(mappings[2].range == AddressRange{0x3000, 0x5000});
  CHECK(mappings[3].range == AddressRange{0x5000, 0x6000});
  CHECK_FALSE(mappings[3].executable);
  CHECK(mappings[4].writable);
  CHECK(mappings[5].path == "/b");
  CHECK_FALSE(mappings[5].permissions_known);
}
