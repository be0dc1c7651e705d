// Stacks that once misled the walk: signal frames at odd places, rows that lead nowhere, virtual
// machines with conventions of their own.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kTrampoline = 0x402000;
constexpr Address kStack = 0x7ffc0000;

TEST_CASE("signal frame: an alternate stack that is an array in the thread's own stack") {
  // main keeps the array in its frame, so the interrupted frames lie below it in the same mapping.
  Stack stack(kStack, kX86_64);
  stack.mark("victim sp").word(0).mark("victim").word(0).word(0).words(60, 0);
  stack.mark("handler sp").word(0).mark("handler").word(0).word(kTrampoline);
  stack.mark("ucontext").words(15, 0).word_of("victim").words(4, 0);
  stack.word_of("victim sp").word(kCode + 0x108).word(0x246).word(0x33).words(18, 0);
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
TEST_CASE("cfi walk: a row without a rule for the return address, where calls push it") {
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

// As SBCL calls; here the function has pushed a word, so that its instructions tell the same frame.
TEST_CASE("walker: the caller made the frame, and the frame pointer leads there") {
  Stack stack(kStack, kX86_64);
  stack.word_of("caller").word(kCode + 0x108).words(2, 0);
  stack.mark("caller").word_of("outer").word(kCode + 0x208).words(2, 0);
  stack.mark("outer").words(20, 0);
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.put(kCode, {0x52});                            // push %rdx
  process.put(kCode + 0x100, {0x48, 0x8d, 0x65, 0xf0});  // lea -16(%rbp),%rsp
  process.call(kCode + 0x108, kCode);
  process.call(kCode + 0x208, kCode);
  process.stack(stack);
  const auto trace = process.walk({{"rip", kCode + 1}, {"rsp", kStack}, {"rbp", kStack}},
                                  only({"analysis", "frame-pointer"}));
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401001 0x401108 0x401208");
}

TEST_CASE("walker: the last frame has no CFA from a frame pointer that was refused") {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  Stack stack(kStack, kX86_64);
  process.stack(stack.words(200, 0x1111));
  const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", kStack + 0x300}});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.frames[0].cfa == 0);
}

TEST_CASE("frame pointer: a frame whose CFA is the end of the mapping") {
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
TEST_CASE("signal frame: a context that cannot be read stops the walk, with the reason") {
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

// SBCL's functions: the caller makes the frame, and the function moves its return address into it.
TEST_CASE("analysis: a return address that was moved through a pointer is not where it was") {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.put(kCode + 0x40, {0x8f, 0x45, 0x08,        // pop [rbp+8]
                             0x48, 0x8d, 0x65, 0xd0,  // lea -0x30(%rbp),%rsp
                             0x48, 0x83, 0xec, 0x10,  // sub $16,%rsp
                             0xff, 0xd0,              // call *%rax
                             0xf8, 0xc9, 0xc3});      // clc; leave; ret
  const Address inside = kCode + 0x40 + 13;           // the return address of that call
  process.module("/bin/lisp", {{kCode, kCode + 0x1000}, 0, {}}, true);
  Stack stack(kStack, kX86_64);
  for (int i = 0; i < 20; ++i) {
    stack.words(6, 0).word_of("fp" + std::to_string(i + 1)).word(inside);
    stack.mark("fp" + std::to_string(i + 1));
  }
  process.stack(stack.words(4, 0));
  const auto trace = process.walk({{"rip", inside}, {"rsp", kStack}, {"rbp", stack.at("fp1") - 16}},
                                  only({"analysis"}));
  CHECK(trace.frames.size() == 1);  // not one frame a word
}

// HotSpot's interpreter: return addresses are entries of a table, no call stands before them.
TEST_CASE("frame pointer: a chain that holds is believed in code that no file holds") {
  for (const int links : {2, 3, 5}) {
    CAPTURE(links);
    TestProcess process(kX86_64);
    process.code(kCode, 0x1000);
    Stack stack(kStack, kX86_64);
    stack.words(3, 0x1111);
    for (int i = 0; i < links; ++i) {
      stack.mark("fp" + std::to_string(i)).word_of("fp" + std::to_string(i + 1));
      stack.word(kCode + 0x100).words(5, 0x7777);
    }
    stack.mark("fp" + std::to_string(links)).word(0).word(0).words(8, 0);
    process.stack(stack);
    const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("fp0")}},
                                    only({"frame-pointer"}));
    CAPTURE(trace.stop.detail);
    // The last links of a chain are too few to vouch for themselves.
    CHECK(trace.frames.size() == (links < 4 ? 1U : static_cast<unsigned>(links - 2)));
  }
}

// valgrind's own stacks lie in memory that is writable and executable.
TEST_CASE("evidence: what lies on the stack itself is no caller, executable or not") {
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  Stack stack(kStack, kX86_64);
  stack.mark("fp").word_of("fp2").word(kStack + 0x60).words(2, 0).mark("fp2").word_of("fp3");
  stack.word(kStack + 0x68).mark("fp3").word_of("fp4").word(kStack + 0x70);
  stack.mark("fp4").word_of("fp5").word(kStack + 0x78).mark("fp5").word(0).word(0).words(20, 0);
  process.map(stack.base(), stack.bytes(), "rwx");
  const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("fp")}});
  CHECK(trace.frames.size() == 1);
}

// Two signal frames whose contexts name each other's stacks.
TEST_CASE("walker: a walk that comes by the same place again ends there") {
  const auto context = [](Stack& stack, Address sp) {
    stack.mark("sp").words(20, 0).word(sp).word(kTrampoline).word(0x246).word(0x33).words(18, 0);
  };
  constexpr Address kOther = 0x600000;
  Stack one(kStack, kX86_64);
  Stack other(kOther, kX86_64);
  context(one, kOther);
  context(other, kStack);
  TestProcess process(kX86_64);
  process.code(kTrampoline, 0x100);
  process.put(kTrampoline, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  process.stack(one);
  process.stack(other);
  const auto trace = process.walk({{"rip", kTrampoline}, {"rsp", kStack}});
  CHECK(trace.frames.size() <= 4);
  CHECK(contains(trace.stop.detail, "circle"));
}

}  // namespace
}  // namespace whocall::test
