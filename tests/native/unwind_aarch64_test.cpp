// AArch64 stacks: leaves, frame records, signed return addresses, the trampoline of signals.
#include "aarch64_words.h"
#include "arch/signed_pointers.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

using namespace a64;

constexpr Address kCode = 0x400000;
constexpr Address kCaller = 0x400100;
constexpr Address kMain = 0x400200;
constexpr Address kBackInCaller = kCaller + 0x10;
constexpr Address kBackInMain = kMain + 0x0c;
constexpr Address kStack = 0x7ff0000000;
constexpr Address kTrampoline = 0x5500801000;

// A leaf; a caller with a frame of 48 bytes and its record at the bottom; main, with one of 32.
TestProcess program(const Architecture& arch = kAArch64) {
  TestProcess process(arch);
  std::vector<std::byte> code(0x300);
  process.map(kCode, std::move(code), "r-x");
  process.put(kCode, words({0x8b010000, 0xd65f03c0}));  // add x0,x0,x1; ret
  process.put(kCaller, words({0xa9bd7bfd, 0x910003fd, 0xa90153f3, 0x97ffffbd, 0xa94153f3,
                              0xa8c37bfd, 0xd65f03c0}));
  process.put(kMain, words({0xa9be7bfd, 0x910003fd, 0x97ffffbe, 0xa8c27bfd, 0xd65f03c0}));
  process.module("/bin/prog", {{kCode, kCode + 0x300}, kMain - 0x40}, true);
  return process;
}

Stack calls(Address signature = 0) {
  Stack stack(kStack, kAArch64);
  stack.mark("caller sp").word_of("main sp").word(kBackInMain | signature);
  stack.word(0x1919).word(0x2020).words(2, 0);
  return stack.mark("main sp").word(0).word(0).words(8, 0);
}

TEST_CASE("aarch64: a leaf's caller is in the link register, and then frames are analysed") {
  TestProcess process = program();
  const Stack stack = calls();
  process.stack(stack);
  WalkOptions options = only({"analysis"});
  options.registers = true;
  const auto trace = process.walk({{"pc", kCode}, {"sp", kStack}, {"x30", kBackInCaller}}, options);
  CHECK(pcs(trace) == "0x400000 0x400110 0x40020c");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].evidence.has(Evidence::call_target));
  CHECK(trace.frames[2].sp == stack.at("main sp"));
  CHECK(trace.details[2].registers->get(19) == 0x1919);
  CHECK(trace.details[2].registers->get(kFp) == stack.at("main sp"));
}

TEST_CASE("aarch64: signatures are no part of a return address") {
  TestProcess process = program();
  process.stack(calls(Address{0x0073} << 48));
  const auto trace = process.walk({{"pc", kCode}, {"sp", kStack}, {"x30", kBackInCaller}}, {});
  CHECK(pcs(trace) == "0x400000 0x400110 0x40020c");
}

TEST_CASE("aarch64: where a kernel's addresses end, a signature begins") {
  for (const unsigned size : {39U, 42U}) {
    const Address signed_bits = ((Address{1} << 55) - 1) & ~((Address{1} << size) - 1);
    TestProcess process = program(with_signatures_in(kAArch64, signed_bits));
    process.stack(calls(signed_bits));
    const auto trace =
        process.walk({{"pc", kCode}, {"sp", kStack}, {"x30", kBackInCaller | signed_bits}}, {});
    CHECK(pcs(trace) == "0x400000 0x400110 0x40020c");
  }
}

TEST_CASE("aarch64: frame records lead on where no rule does, to the caller's stack pointer") {
  TestProcess process = program();
  const Stack stack = calls();
  process.stack(stack);
  const auto trace = process.walk({{"pc", kBackInCaller}, {"sp", kStack}, {"x29", kStack}},
                                  only({"frame-pointer"}));
  CHECK(pcs(trace) == "0x400110 0x40020c");
  REQUIRE(trace.frames.size() == 2);
  CHECK(trace.frames[1].sp == stack.at("main sp"));
}

// stp x19,x20,[sp,#-96]!; str x30,[sp,#32]; bl (the leaf); bl (itself); ldr x30,[sp,#32];
// ldp x19,x20,[sp],#96; ret: below main and its caller; its return address is gone.
TEST_CASE("aarch64: where a function keeps its return address, a search knows its frame's end") {
  TestProcess process = program();
  process.put(kCaller, words({0xa9ba53f3, 0xf90013fe, 0x97ffffbe, 0x97fffffd, 0xf94013fe,
                              0xa8c653f3, 0xd65f03c0}));
  Stack stack(kStack, kAArch64);
  stack.words(12, 0x4141414141414141);
  for (int i = 0; i < 7; ++i) {
    stack.words(4, 0).word(kCaller + 0x10).words(7, 0);
  }
  stack.words(4, 0).word(kBackInMain).words(7, 0);
  stack.mark("main").words(4, 0);
  stack.mark("record").word_of("end").word(kBackInMain).words(4, 0).mark("end");
  process.stack(stack);
  const auto trace = process.walk({{"pc", kCode}, {"sp", kStack}, {"x30", kCaller + 0xc}}, {});
  REQUIRE(trace.frames.size() == 10);
  CHECK(trace.frames[2].pc == kCaller + 0x10);
  CHECK(trace.frames[2].trust == Trust::scan);
  CHECK(trace.frames[3].trust == Trust::analysis);
  CHECK(trace.frames[9].pc == kBackInMain);
  CHECK(trace.frames[9].sp == stack.at("main"));
  // A frame pointer that nobody on the way has touched passes over none of them.
  const auto skipping = process.walk(
      {{"pc", kCode}, {"sp", kStack}, {"x29", stack.at("record")}, {"x30", kCaller + 0xc}}, {});
  CHECK(pcs(skipping).starts_with(pcs(trace)));
}

// A handler that returns to kTrampoline, whose signal interrupted the caller.
Backtrace interrupted_caller(TestProcess& process, std::uint64_t link = 0) {
  Stack stack(kStack, kAArch64);
  constexpr Address kInterrupted = kStack + 0x1000;
  stack.words(2, 0).mark("trampoline sp").words(17, 0).word(link).words(21, 0);
  stack.words(29, 0x4242).word(kInterrupted).word(kBackInMain);  // x0 to x28, x29, x30
  stack.word(kInterrupted).word(kCaller).word(0x60000000);       // sp, pc, flags
  process.stack(stack.words(30, 0));
  Stack below(kInterrupted, kAArch64);
  process.stack(below.words(8, 0));
  return process.walk({{"pc", kCode}, {"sp", stack.at("trampoline sp")}, {"x30", kTrampoline}}, {});
}

// qemu-user's stands at the beginning of a page of its own, behind which writable memory lies.
TEST_CASE("aarch64: a trampoline that begins its page leads to the interrupted registers") {
  TestProcess process = program();
  process.map(kTrampoline, words({0xd2801168, 0xd4000001, 0, 0}).get(), "r-x");
  process.map(kTrampoline - 0x1000, std::vector<std::byte>(0x1000), "rw-");
  const auto trace = interrupted_caller(process);
  CHECK(pcs(trace) == "0x400000 0x5500801000 0x400100 0x40020c");
  REQUIRE(trace.frames.size() == 4);
  CHECK(trace.frames[1].signal_trampoline);
  CHECK(trace.frames[2].trust == Trust::context);
}

// Later ones have it in a vDSO, which they leave out of cores.
TEST_CASE("aarch64: what returns into a vDSO that nobody kept returns to its trampoline") {
  for (const std::string path : {"[vdso]", "/lib/other.so"}) {
    for (const std::uint64_t link : {0, 1}) {
      CAPTURE(path);
      CAPTURE(link);
      TestProcess process = program();
      process.map_unread(path, {kTrampoline - 0x4ec, kTrampoline + 0xb14}, "r-x");
      const auto trace = interrupted_caller(process, link);
      if (path == "[vdso]" && link == 0) {
        CHECK(pcs(trace) == "0x400000 0x5500801000 0x400100 0x40020c");
        CHECK(trace.frames[1].signal_trampoline);
        CHECK(trace.frames[2].trust == Trust::context);
      } else {
        CHECK_FALSE(contains(pcs(trace), "0x400100"));
      }
    }
  }
}

}  // namespace
}  // namespace whocall::test
