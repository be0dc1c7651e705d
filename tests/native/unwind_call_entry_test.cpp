// Calls of what is not code: NULL, freed and overwritten function pointers.
#include <doctest/doctest.h>

#include "arch/aarch64/facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ffc0000;

// The caller called through a register; `pc` is where that led.
Backtrace wild_call(const Architecture& arch, Address pc, const WalkOptions& options) {
  TestProcess process(arch);
  process.code(kCode, 0x1000);
  process.indirect_call(kCode + 0x110);
  process.call(kCode + 0x210, kCode + 0x100);
  process.map(0x600000, std::vector<std::byte>(0x100), "rw-");
  Stack stack(kStack, arch);
  stack.mark("sp").word(kCode + 0x110).words(2, 0x2222);
  stack.mark("fp").word(0).word(0).words(4, 0);
  process.stack(stack);
  const bool wide = arch.abi.pointer_size == 8;
  return process.walk({{wide ? "rip" : "eip", pc},
                       {wide ? "rsp" : "esp", stack.at("sp")},
                       {wide ? "rbp" : "ebp", stack.at("fp")}},
                      options);
}

TEST_CASE("call entry: the caller of a NULL call is on top of the stack") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    const auto trace = wild_call(*arch, 0, {});
    REQUIRE(trace.frames.size() == 2);
    CHECK(trace.frames[0].pc == 0);
    CHECK(trace.frames[0].lookup_pc() == 0);
    CHECK(trace.frames[0].cfa == kStack + arch->abi.pointer_size);
    CHECK(trace.frames[1].pc == kCode + 0x110);
    CHECK(trace.frames[1].trust == Trust::analysis);
    CHECK(trace.frames[1].evidence.has(Evidence::call_before));
    CHECK(trace.frames[1].sp == kStack + arch->abi.pointer_size);
  }
}

TEST_CASE("call entry: so it is for a pointer into data, into nothing, beyond all") {
  for (const Address pc : {Address{0x600010}, Address{0x4141414141414141}, ~Address{0}}) {
    const auto trace = wild_call(kX86_64, pc, {});
    CHECK(pcs(trace) == hex(pc) + " 0x401110");
  }
}

TEST_CASE("call entry: every register is still the caller's") {
  WalkOptions options = only({"call-entry"});
  options.registers = true;
  const auto trace = wild_call(kX86_64, 0, options);
  REQUIRE(trace.frames.size() == 2);
  CHECK(trace.details[1].registers->get(kX86_64.registers.fp) == kStack + 24);
}

TEST_CASE("call entry: the explanation names the NULL pc") {
  WalkOptions options;
  options.explain = true;
  const auto trace = wild_call(kX86_64, 0, options);
  REQUIRE(trace.frames.size() == 2);
  CHECK(trace.details[1].explanation ==
        "the NULL pc was just called, so the word on top of the stack leads to it; a call "
        "instruction stands before it.");
}

TEST_CASE("call entry: code that crashed was not just called") {
  const auto trace = wild_call(kX86_64, kCode + 0x500, only({"call-entry"}));
  CHECK(trace.frames.size() == 1);
}

TEST_CASE("call entry: only the innermost frame, a zero further up ends the stack") {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.call(kCode + 0x110, kCode);
  Stack stack(kStack, kX86_64);
  stack.mark("sp").mark("leaf").word(0).word(0).word(kCode + 0x110).words(4, 0);
  process.stack(stack);
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", stack.at("sp")}, {"rbp", stack.at("leaf")}},
                   only({"call-entry", "frame-pointer"}));
  CHECK(trace.frames.size() == 1);
}

TEST_CASE("call entry: without an acceptable word on top there is no caller") {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  Stack stack(kStack, kX86_64);
  stack.word(kCode + 0x333).words(8, 0x5555);
  process.stack(stack);
  const auto trace = process.walk({{"rip", 0}, {"rsp", kStack}});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.stop.reason == StopReason::no_caller);
  CHECK(contains(trace.stop.detail, "call-entry leads to 0x401333"));
}

// The innermost code is in a file that nobody has, and so is the C library's; x29 is the frame
// record of the latter.
Backtrace without_files(Address link) {
  constexpr Address kProgram = 0x400000;
  constexpr Address kLibrary = 0x7fb7370000;
  TestProcess process(kAArch64);
  process.map_unread("/bin/prog", {kProgram, kProgram + 0x1000}, "r-x");
  process.map_unread("/lib/libc.so", {kLibrary, kLibrary + 0x30000}, "r-x");
  process.module("/bin/prog", nullptr, {kProgram, kProgram + 0x1000}, true);
  process.module("/lib/libc.so", nullptr, {kLibrary, kLibrary + 0x30000});
  Stack stack(kStack, kAArch64);
  stack.mark("sp").words(2, 0x2222);
  stack.mark("record").word_of("end").word(kProgram + 0x40c).words(2, 0);
  stack.mark("end").word(0).word(0).words(4, 0);
  process.stack(stack);
  return process.walk({{"pc", kProgram + 0x548},
                       {"sp", stack.at("sp")},
                       {"x29", stack.at("record")},
                       {"x30", link}});
}

TEST_CASE("call entry: a link register to another module is the caller of code without a file") {
  const auto trace = without_files(0x7fb7390b38);
  REQUIRE(trace.frames.size() >= 3);
  CHECK(trace.frames[1].pc == 0x7fb7390b38);
  CHECK(trace.frames[1].trust == Trust::analysis);
  CHECK(trace.frames[2].pc == 0x40040c);
}

TEST_CASE("call entry: one into its own module may be of a call that it made itself") {
  CHECK(pcs(without_files(0x400520)) == "0x400548 0x40040c");
}

}  // namespace
}  // namespace whocall::test
