// Minidumps: what is read of them, and the cores that are made of them.
#include <doctest/doctest.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "base/regular_file.h"
#include "base/utf16.h"
#include "process/core/core_file.h"
#include "process/core/core_notes.h"
#include "process/minidump/core_notes_writer.h"
#include "process/minidump/minidump_as_core.h"
#include "process_core_builder.h"
#include "process_minidumps.h"

namespace whocall {
namespace {

using namespace whocall::testing;

constexpr Address kStack = 0x7ffc00001000;
constexpr Address kCode = 0x401000;

// Two threads, of which the second crashed; a program and a library; mappings.
Bytes crash_of_two() {
  MinidumpBuilder dump;
  Bytes stack(64, std::byte{7});
  const auto stack_place = dump.add(stack);
  const auto code_place = dump.add(Bytes(32, std::byte{0x90}));
  const auto waits = dump.add(context_of_amd64(kCode + 2, kStack + 8));
  const auto crashed = dump.add(context_of_amd64(kCode + 16, kStack));
  Bytes threads;
  append_thread(threads, {7, 0, 0, 0, 0, 1232, waits});
  append_thread(threads, {8, 0xabc, kStack, 64, stack_place, 1232, waits});
  dump.list(3, 2, threads);
  Bytes record;
  append_numbers(record, u32(0x4270454c), u32(0x04030201));
  const auto identity = dump.add(record);
  Bytes modules;
  append_module(modules, 0x400000, 0x3000, dump.text(u"/bin/prog"), 8, identity);
  append_module(modules, 0x500000, 0x1000, dump.text(u"libc.so.6"), 0, 0);
  dump.list(4, 2, modules);
  Bytes memory;
  append_numbers(memory, kCode, u32(32), code_place);
  dump.list(5, 1, memory);
  dump.stream(6, exception_of(8, 11, 1, 0x10, 1232, crashed));
  Bytes names;
  append_numbers(names, u32(7), dump.text(u"worker"), u32(0));
  dump.list(24, 1, names);
  Bytes misc;
  append_numbers(misc, u32(24), u32(1), u32(4711), u32(0), u32(0), u32(0));
  dump.stream(15, misc);
  const std::string maps =
      "400000-403000 r-xp 00000000 08:01 5 /bin/prog\n"
      "7ffc00000000-7ffc00002000 rw-p 00000000 00:00 0 [stack]\n";
  Bytes text(maps.size());
  std::memcpy(text.data(), maps.data(), maps.size());
  return dump.stream(0x47670009, text).build();
}

Minidump read_of(const Bytes& file) {
  Budget budget("x.dmp", file.size());
  return read_minidump(ByteView(file, Endian::little), "x.dmp", budget);
}

std::string error_of(const Bytes& file) {
  try {
    read_of(file);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("a minidump is read whole") {
  const Minidump dump = read_of(crash_of_two());
  CHECK(dump.arch->name == "x86_64");
  CHECK(dump.system == "Linux");
  CHECK(dump.pid == 4711);
  CHECK(dump.time == 1700000000);
  REQUIRE(dump.threads.size() == 2);
  CHECK(dump.threads[0].lwp == 8);
  CHECK(dump.threads[1].name == "worker");
  const auto registers =
      decode_registers(ByteView(dump.threads[0].registers, Endian::little), *dump.arch);
  CHECK(registers.get(dump.arch->registers.pc) == std::optional<std::uint64_t>(kCode + 16));
  CHECK(registers.get(*dump.arch->registers.thread_pointer) == std::optional<std::uint64_t>(0xabc));
  REQUIRE(dump.modules.size() == 2);
  CHECK(dump.modules[0].path == "/bin/prog");
  CHECK(dump.modules[0].is_executable);
  CHECK(dump.modules[0].build_id == "01020304");
  CHECK(dump.modules[1].build_id.empty());
  REQUIRE(dump.signal.has_value());
  CHECK(dump.signal->number == 11);
  CHECK(dump.signal->address == std::optional<Address>(0x10));
  CHECK(dump.mappings.size() == 2);
  CHECK(dump.remarks.empty());
}

TEST_CASE("the core that is made of it tells the same") {
  const TemporaryDirectory folder;
  MinidumpAsCore crash(MappedFile::open(folder.write("x.dmp", crash_of_two())));
  const std::string core = folder.write("core", Bytes(100000, std::byte{1}));
  const Descriptor file(::open(core.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(crash.write(file.get()) == 0);
  FileSearch search;
  search.sysroot = "/nonexistent";
  const auto image = open_core(core, search);
  REQUIRE(image->threads.size() == 2);
  CHECK(image->threads[0].lwp == 8);
  CHECK(image->threads[0].crashed);
  CHECK(image->threads[0].signal_info->address == std::optional<Address>(0x10));
  CHECK(image->threads[1].name == "worker");
  CHECK(image->pid == 4711);
  CHECK_FALSE(image->partial_map);
  REQUIRE(image->mapping_at(kCode) != nullptr);
  CHECK(image->mapping_at(kCode)->path == "/bin/prog");
  CHECK(image->memory->run_at(kStack).size() == 64);
  CHECK(image->memory->run_at(kCode).size() == 32);
  CHECK(image->memory->run_at(kCode)[0] == std::byte{0x90});
}

TEST_CASE("a program's name and command line are those of its first module, or as told") {
  Minidump dump = read_of(crash_of_two());
  const auto notes_of = [](const Minidump& told) {
    const auto bytes = core_notes_of(told);
    return read_core_notes(parse_notes(ByteView(bytes, Endian::little), 4), *told.arch);
  };
  CHECK(notes_of(dump).name == "prog");
  CHECK(notes_of(dump).command_line.text == "/bin/prog");
  dump.modules.front().path = "/a/place/that/is/far/down/of_a_name_that_is_long";
  CHECK(notes_of(dump).name == "of_a_name_that_");
  CHECK(notes_of(dump).command_line.text == dump.modules.front().path);
  dump.command = "./prog -x";
  CHECK(notes_of(dump).command_line.text == "./prog -x");
  dump.modules.clear();
  CHECK(notes_of(dump).name == "prog");
}

TEST_CASE("a minidump that is cut off anywhere, or whose numbers lie") {
  const Bytes whole = crash_of_two();
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string error = error_of(part);
    CHECK((error.empty() || error.starts_with("x.dmp: ")));
  }
  for (std::size_t at = 0; at + 4 <= whole.size(); at += 4) {
    for (const std::uint32_t value : {0U, 1U, 0x7fffffffU, 0xffffffffU}) {
      Bytes changed = whole;
      put(changed, at, value);
      const std::string error = error_of(changed);
      CHECK((error.empty() || error.starts_with("x.dmp: ")));
    }
  }
}

TEST_CASE("what cannot be read is told") {
  CHECK(error_of(Bytes(10)).find("shorter than its header") != std::string::npos);
  CHECK(error_of(Bytes(40)).find("it has no streams") != std::string::npos);
  CHECK(error_of(MinidumpBuilder(9, 2).build()).find("a minidump of Windows: only those of") !=
        std::string::npos);
  CHECK(error_of(MinidumpBuilder(77).build()).find("a processor that is not supported (0x4d)") !=
        std::string::npos);
  CHECK(error_of(MinidumpBuilder().build()).find("no thread whose registers can be read") !=
        std::string::npos);
}

TEST_CASE("what of a list or of memory is missing is told, the first few times") {
  MinidumpBuilder dump;
  const auto context = dump.add(context_of_amd64(1, 2));
  Bytes threads;
  for (std::uint32_t lwp = 1; lwp < 9; ++lwp) {
    append_thread(threads, {lwp, 0, 0x1000ULL * lwp, 0xffffff, context, 1232, context});
  }
  append_thread(threads, {99, 0, 0, 0, 0, 100, context});
  dump.list(3, 9, threads);
  const Minidump found = read_of(dump.list(4, 1U << 31U, {}).build());
  REQUIRE(found.remarks.size() == Minidump::kMostRemarks);
  CHECK(found.remarks[0] == "the registers of thread 99 are not there: it is left out");
  CHECK(found.remarks[1].starts_with("it has "));
  CHECK(found.remarks[1].ends_with(" of 2147483648 rows of a list (stream 4)"));
  CHECK(found.remarks[2].starts_with("the memory at 0x1000 is cut off: "));
}

TEST_CASE("rows without end draw on the budget, and that is said") {
  (void)take_exhausted_budgets();
  MinidumpBuilder dump;
  const auto context = dump.add(context_of_amd64(1, 2));
  Bytes threads;
  append_thread(threads, {1, 0, 0, 0, 0, 1232, context});
  dump.list(3, 1, threads);
  Bytes rows;
  for (std::uint32_t at = 0; at < 10000; ++at) {
    append_module(rows, 0x1000ULL * (at + 1), 0x1000, 0, 0, 0);
  }
  const Minidump found = read_of(dump.list(4, 10000, rows).build());
  CHECK(found.modules.size() == 8192);
  const auto said = take_exhausted_budgets();
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("x.dmp has more than 8192 modules"));
}

struct ContextCase {
  std::string_view arch;
  std::size_t size;
  std::uint32_t mark;
  std::size_t pc;  // where it stands, bytes
  std::size_t sp;
  std::size_t word;
};

TEST_CASE("registers of each instruction set") {
  for (const ContextCase& each :
       {ContextCase{"x86_64", 1232, 0, 248, 152, 8}, ContextCase{"i386", 716, 0, 184, 196, 4},
        ContextCase{"arm", 368, 0x40000006, 64, 56, 4},
        ContextCase{"aarch64", 912, 0x400007, 264, 256, 8},
        ContextCase{"aarch64", 796, 0x80000006, 264, 256, 8}}) {
    CAPTURE(each.arch);
    const Architecture& arch = *find_architecture(each.arch);
    Bytes context(each.size);
    put(context, 0, each.mark);
    const std::uint64_t pc = 0x11223344;
    const std::uint64_t sp = 0x55667788;
    std::memcpy(context.data() + each.pc, &pc, each.word);
    std::memcpy(context.data() + each.sp, &sp, each.word);
    const auto block = registers_of_context(ByteView(context, Endian::little), arch);
    REQUIRE(block.has_value());
    const Registers found = decode_registers(ByteView(*block, Endian::little), arch);
    CHECK(found.get(arch.registers.pc) == std::optional<std::uint64_t>(pc));
    CHECK(found.get(arch.registers.sp) == std::optional<std::uint64_t>(sp));
    context.resize(60);
    CHECK_FALSE(registers_of_context(ByteView(context, Endian::little), arch).has_value());
  }
}

TEST_CASE("a field of each context has a place of its own") {
  for (const Architecture* arch : architectures()) {
    for (const MinidumpContext& context : arch->minidump.contexts) {
      std::vector<std::uint32_t> places;
      for (const ContextField& field : context.fields) {
        CHECK(field.offset + field.size <= context.size);
        CHECK(field.place + arch->registers.size <= arch->os.prstatus.registers_size);
        CHECK(field.place % arch->registers.size == 0);
        places.push_back(field.place);
      }
      std::ranges::sort(places);
      CHECK(std::ranges::adjacent_find(places) == places.end());
    }
  }
}

TEST_CASE("of a signal nothing is told that the dump does not know") {
  const DumpedSignal plain = told_signal(SIGSEGV, 0, 0x401f27, 0x401f27, 9);
  CHECK_FALSE(plain.code.has_value());
  CHECK(plain.address == std::optional<Address>(0x401f27));
  CHECK_FALSE(plain.sender.has_value());
  const DumpedSignal own = told_signal(SIGABRT, 0, 9, 9, 9);
  CHECK(own.sender == std::optional<std::uint64_t>(9));
  CHECK_FALSE(own.address.has_value());
  const DumpedSignal sent = told_signal(SIGABRT, 0xfffffffa, 0, 5, 9);
  CHECK(sent.code == std::optional<std::int32_t>(-6));
  CHECK(sent.sender == std::optional<std::uint64_t>(5));
}

Minidump with_memory(std::vector<DumpedMemory> memory, std::vector<Mapping> mappings) {
  Minidump dump;
  dump.memory = std::move(memory);
  dump.mappings = std::move(mappings);
  return dump;
}

TEST_CASE("segments are disjoint: pieces that overlap, mappings around them") {
  const auto segments = core_segments_of(
      with_memory({{0x1800, 0x1000, 50}, {0x1000, 0x1000, 0}, {0x1000, 0x10, 900}, {0x9000, 8, 7}},
                  {{{0x1000, 0x2000}, true, false, true, 0, "/x"},
                   {{0x1500, 0x3000}, true, true, false, 0, {}}}));
  REQUIRE(segments.size() == 5);
  CHECK(segments[0].address == 0x1000);
  CHECK(segments[0].held == 0x500);
  CHECK(segments[0].flags == (PF_R | PF_X));
  CHECK(segments[1].address == 0x1500);
  CHECK(segments[1].place == 0x500);
  CHECK(segments[2].address == 0x2000);
  CHECK(segments[2].place == 50 + 0x800);
  CHECK(segments[3].address == 0x2800);
  CHECK(segments[3].held == 0);
  CHECK(segments[4].flags == (PF_R | PF_W));
  Address end = 0;
  for (const CoreSegment& each : segments) {
    CHECK(each.address >= end);
    end = each.address + each.size;
  }
}

TEST_CASE("hundreds of thousands of them take no longer than their number says") {
  std::vector<DumpedMemory> memory;
  std::vector<Mapping> mappings;
  for (std::uint64_t at = 0; at < 200000; ++at) {
    memory.push_back({at << 13U, 4096, 0});
    mappings.push_back({{0, (std::uint64_t{1} << 40U) + at}, true, false, true, 0, "/x"});
  }
  CHECK(core_segments_of(with_memory(std::move(memory), std::move(mappings))).size() > 200000);
}

TEST_CASE("UTF-16: pairs, halves of them, and half a character") {
  const auto told = [](const std::u16string& words, std::size_t left_off = 0) {
    Bytes bytes(words.size() * 2);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    bytes.resize(bytes.size() - left_off);
    return utf8_of_utf16(ByteView(bytes, Endian::little));
  };
  CHECK(told(u"a\u00e9\u20ac\U0001f600") == "a\u00e9\u20ac\U0001f600");
  CHECK(told({0xd83d, u'x'}) == "\ufffdx");
  CHECK(told({0xde00, u'x'}) == "\ufffdx");
  CHECK(told({u'x', 0xd83d}) == "x\ufffd");
  CHECK(told(u"xy", 1) == "x\ufffd");
}

}  // namespace
}  // namespace whocall
