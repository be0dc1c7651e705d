// What the walk should do and does not do yet. A case that passes loses its `may_fail` and moves to
// the file of its subject.
#include <doctest/doctest.h>

#include "arch/x86_64.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kTrampoline = 0x402000;
constexpr Address kStack = 0x7ffc0000;

TEST_CASE("signal frame: an alternate stack that is an array in the thread's own stack" *
          doctest::may_fail()) {
  // main keeps the array in its frame, so the interrupted frames lie below it in the same mapping.
  Stack stack(kStack, kX86_64);
  stack.mark("victim sp").word(0).mark("victim").word(0).word(0).words(60, 0);
  stack.mark("handler sp").word(0).mark("handler").word(0).word(kTrampoline);
  stack.mark("ucontext").words(15, 0).word_of("victim").words(4, 0);
  stack.word_of("victim sp").word(kCode + 0x108).words(20, 0);
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.code(kTrampoline, 0x100);
  process.put(kTrampoline, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  process.stack(stack);
  const auto trace = process.walk(
      {{"rip", kCode + 8}, {"rsp", stack.at("handler sp")}, {"rbp", stack.at("handler")}},
      only({"signal-frame", "frame-pointer"}));
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401008 0x402000 0x401108");
}

// Such a row leaves the pc what it was. Nothing is read, so the walk also leaves all memory behind.
TEST_CASE("cfi walk: a row without a rule for the return address, where calls push it" *
          doctest::may_fail()) {
  FrameTable table(kX86_64);
  const auto cie = table.cie(Bytes{0x0c, 7, 8});
  table.fde(cie, {0x401000, 0x401100});
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.module("/bin/x", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
  Stack stack(kStack, kX86_64);
  process.stack(stack.words(20, 0x1111));
  WalkOptions options = only({"cfi"});
  options.max_frames = 50;
  const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}}, options);
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401008");
}

TEST_CASE("walker: the last frame has no CFA from a frame pointer that was refused" *
          doctest::may_fail()) {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  Stack stack(kStack, kX86_64);
  process.stack(stack.words(200, 0x1111));
  const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", kStack + 0x300}});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.frames[0].cfa == 0);
}

TEST_CASE("frame pointer: a frame whose CFA is the end of the mapping" * doctest::may_fail()) {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.call(kCode + 0x110, kCode);
  Stack stack(kStack, kX86_64);
  stack.word(0).mark("fp").word(0).word(kCode + 0x110);
  process.stack(stack);
  const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("fp")}},
                                  only({"frame-pointer", "scan"}));
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401008 0x401110");
}
TEST_CASE("signal frame: a context that cannot be read stops the walk, with the reason" *
          doctest::may_fail()) {
  Stack stack(kStack, kX86_64);
  stack.mark("handler").word(0).word(kTrampoline).words(4, 0);
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.code(kTrampoline, 0x100);
  process.put(kTrampoline, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  process.stack(stack);
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}});
  CHECK(pcs(trace) == "0x401008 0x402000");
  CAPTURE(trace.stop.detail);
  CHECK(contains(trace.stop.detail, "signal-frame needs a register or memory that is not known"));
}

}  // namespace
}  // namespace whocall::test
