// The search of a stack among what misleads it: leftovers with chains of their own, code that jumps
// away, frames far and near.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/analysis/function_analysis.h"
#include "unwind_process.h"
#include "unwind_victim.h"

namespace whocall::test {
namespace {

constexpr AddressRange kEnter{kThird, kThird + 0x20};
constexpr Address kAfterEnter = kCaller.begin + 0x20;  // of a call of kEnter
constexpr Address kAfterPointer = kMain.begin + 0x80;  // of a call through a pointer
constexpr Address kOtherBlind = 0x402800;

// kEnter has no more than a range.
TestProcess process_with(const Bytes& enter) {
  TestProcess process = victim(kX86_64, kEnter.size(), false);
  process.put(kEnter.begin, enter);
  process.call(kMain.begin + 0x20, kMain.begin);
  process.call(kMain.begin + 0x60, kCaller.begin);
  process.indirect_call(kMain.begin + 0x80);
  process.call(kCaller.begin + 0x20, kEnter.begin);
  process.indirect_call(kCaller.begin + 0x60);
  return process;
}

Backtrace walk(const TestProcess& process, Address pc) {
  return process.walk({{"rip", pc}, {"rsp", kStack}}, only({"cfi", "scan"}));
}

// GHC's StgRun: lea -48(%rsp),%rsp would do as well; it reserves 16 KiB, here 1,024 bytes.
TEST_CASE("search: a function that jumped away stands where its own rule says") {
  const Bytes enter{0x48, 0x83, 0xec, 0x30,                    // sub $48,%rsp
                    0x48, 0x89, 0xe0,                          // mov %rsp,%rax
                    0x48, 0x81, 0xec, 0x00, 0x04, 0x00, 0x00,  // sub $1024,%rsp
                    0x48, 0x89, 0x18,                          // mov %rbx,(%rax)
                    0xff, 0xe7};                               // jmp *%rdi
  TestProcess process = process_with(enter);
  Stack stack(kStack - 64, kX86_64);
  stack.up_to(kStack);
  // A leftover near by whose chain leads on, to a leftover of a call of kEnter at that.
  stack.words(6, 1).word(kMain.begin + 0x80).words(2, 2).word(kMain.begin + 0x20).words(2, 2);
  stack.word(kCaller.begin + 0x20).words(2, 3).word(kMain.begin + 0x60).words(2, 3).word(0);
  stack.up_to(kStack + 1024).word(0xb0b).words(5, 4);  // rbx and what else it saved
  stack.word(kCaller.begin + 0x20).words(2, 5).word(kMain.begin + 0x60).words(2, 5).word(0);
  process.stack(stack.words(8, 0));
  WalkOptions options = only({"cfi", "scan"});
  options.registers = true;
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}, {"rbx", 0x1dea}}, options);
  CHECK(pcs(trace) == "0x402000 0x401120 0x401060");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].sp == kStack + 1024 + 56);
  CHECK(trace.details[1].registers->get(3) == 0xb0b);
  // The code that was jumped to has made room since.
  const auto lowered = process.walk({{"rip", kBlind}, {"rsp", kStack - 24}}, only({"cfi", "scan"}));
  CHECK(lowered.frames[1].sp == kStack + 1024 + 56);
}

// restoreregs of SML/NJ for i386; it reserves 8 KiB, here 1,024 bytes.
TEST_CASE("search: a function that aligned its stack and jumped away kept where it stood") {
  const Bytes enter{0x55, 0x53,                          // push %ebp; push %ebx
                    0x89, 0xe3,                          // mov %esp,%ebx
                    0x83, 0xcc, 0x04,                    // or $4,%esp
                    0x81, 0xec, 0x04, 0x04, 0x00, 0x00,  // sub $1028,%esp
                    0x89, 0x5c, 0x24, 0x60,              // mov %ebx,0x60(%esp)
                    0x31, 0xdb,                          // xor %ebx,%ebx
                    0xff, 0xe2};                         // jmp *%edx
  TestProcess process = victim(kI386, kEnter.size(), false);
  process.put(kEnter.begin, enter);
  process.call(kMain.begin + 0x20, kMain.begin);
  process.call(kMain.begin + 0x60, kCaller.begin);
  process.indirect_call(kMain.begin + 0x80);
  process.call(kCaller.begin + 0x20, kEnter.begin);
  Stack stack(kStack - 16, kI386);
  stack.words(4, 0).mark("sp at the jump");
  // Leftovers near by, one of a call of kEnter, and what tells where it stood this time.
  stack.words(6, 1).word(kMain.begin + 0x80).words(2, 2).word(kMain.begin + 0x20).words(2, 2);
  stack.word(kCaller.begin + 0x20).words(2, 3).word(kMain.begin + 0x60).words(2, 3).word(0);
  stack.up_to(kStack + 0x60);
  stack.word(kStack + 1032).up_to(kStack + 1032).words(2, 4);
  stack.word(kCaller.begin + 0x20).words(2, 5).word(kMain.begin + 0x60).words(2, 5).word(0);
  process.stack(stack.words(8, 0));
  for (const Address lowered : {0, 8}) {
    const auto trace =
        process.walk({{"eip", kBlind}, {"esp", kStack - lowered}}, only({"cfi", "scan"}));
    CHECK(pcs(trace) == "0x402000 0x401120 0x401060");
    REQUIRE(trace.frames.size() == 3);
    CHECK(trace.frames[1].sp == kStack + 1032 + 12);
  }
}

// LuaJIT's interpreter, which runs a script that C code of the program runs by it.
TEST_CASE("search: what leads to the blind function again stands below that one's caller") {
  for (const std::size_t above : {6U, 7U}) {  // words in the frame of the upper one
    CAPTURE(above);
    TestProcess process = process_with({0xc3});
    process.call(kBlind + 0x140, kCaller.begin);
    Stack stack(kStack, kX86_64);
    stack.words(6, 1).word(kCaller.begin + 0x60).words(2, 2).word(kBlind + 0x140);
    stack.words(above, 3).word(kMain.begin + 0x80).words(2, 4);
    for (int i = 0; i < 6; ++i) {
      stack.word(kMain.begin + 0x20).words(2, 5);
    }
    process.stack(stack.words(8, 0));
    const auto trace = walk(process, kBlind + 8);
    REQUIRE(trace.frames.size() > 2);
    CHECK(trace.frames[1].pc == (above == 6 ? kCaller.begin + 0x60 : kMain.begin + 0x80));
  }
}

// Who called the blind function: near by lies the return address of a call of `enter`, above it
// that of a call through a pointer, which may have been one of anything.
Address caller_of_blind(const Bytes& enter, bool in_module) {
  TestProcess process = process_with(enter);
  if (in_module) {
    process.module("/lib/libblind.so", {{kBlind, kBlind + 0x1000}, 0, {}});
  }
  Stack stack(kStack, kX86_64);
  stack.word(1).word(kAfterEnter).words(2, 2).word(kAfterPointer).words(2, 2);
  for (int i = 0; i < 6; ++i) {
    stack.word(kMain.begin + 0x20).words(2, 5);
  }
  process.stack(stack.word(0).words(8, 0));
  const auto trace = walk(process, kBlind);
  return trace.frames.size() > 2 ? trace.frames[1].pc : 0;
}

// Chez Scheme's S_generic_invoke. In a module, as the next test's rule holds for code of none.
TEST_CASE("search: a call of code that jumps anywhere speaks against nobody") {
  const Bytes jump{0x48, 0x83, 0xc6, 0x41, 0xff, 0xe6};  // add $65,%rsi; jmp *%rsi
  const Bytes ret{0x48, 0x83, 0xc6, 0x41, 0xc3};
  CHECK(caller_of_blind(jump, true) == kAfterEnter);
  CHECK(caller_of_blind(ret, true) == kAfterPointer);
}

// LuaJIT's lj_vm_call, and a trace that runs in the interpreter's frame.
TEST_CASE("search: an interpreter's entry may have called any code of no module") {
  const Bytes enter{0x55, 0x48, 0x83, 0xec, 0x28,  // push %rbp; sub $40,%rsp
                    0x75, 0x02, 0x31, 0xc0};       // jne 1f; xor %eax,%eax; 1:
  const Bytes dispatch{0x41, 0xff, 0x24, 0xee};    // jmp *(%r14,%rbp,8)
  CHECK(caller_of_blind(Bytes(enter).append(dispatch), false) == kAfterEnter);
  CHECK(caller_of_blind(Bytes(enter).append(dispatch), true) == kAfterPointer);
  CHECK(caller_of_blind(Bytes(enter).append(Bytes{0xc3}), false) == kAfterPointer);
}

// HotSpot's Runtime1::counter_overflow, a leftover far above compiled code: rbp+16 is somewhere
// else.
TEST_CASE("search: a rule that leads away from the stack does not lead to its end") {
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  table.fde(cie, kMain, Bytes{0x0c, 0x06, 0x10});  // DW_CFA_def_cfa rbp+16
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.code(kBlind, 0x1000);
  process.module("/bin/victim", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
  process.indirect_call(kMain.begin + 0x80);
  process.indirect_call(kBlind + 0x400);
  constexpr Address kZeros = kCode + 0x800;  // taken for rbp: it lies below the return address
  process.put(kZeros, Bytes().u64(0).u64(0));
  Stack stack(kStack, kX86_64);
  stack.words(3, 1).word(kBlind + 0x400).words(8, 2).word(kZeros).word(kMain.begin + 0x80);
  process.stack(stack.words(8, 1));
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}}, only({"cfi", "scan"}));
  REQUIRE(trace.frames.size() > 1);
  CHECK(trace.frames[1].pc == kBlind + 0x400);
}

// Guile's compiled code, called through pointers by libguile.
TEST_CASE("search: what leads to the best candidate by exact rules comes before it") {
  TestProcess process = process_with({0xc3});
  Stack stack(kStack, kX86_64);
  stack.words(3, 1).word(kCaller.begin + 0x60).words(2, 2).word(kMain.begin + 0x80).words(2, 2);
  for (int i = 0; i < 8; ++i) {  // recursion by direct calls: the better lead
    stack.word(kMain.begin + 0x20).words(2, 3);
  }
  process.stack(stack.word(0).words(8, 0));
  const auto trace = walk(process, kBlind);
  REQUIRE(trace.frames.size() == 11);
  CHECK(trace.frames[1].pc == kCaller.begin + 0x60);
  CHECK(trace.frames[2].pc == kMain.begin + 0x80);
  CHECK(trace.frames[2].trust == Trust::cfi);
}

// LuaJIT's interpreter, once more below each pcall.
TEST_CASE("search: at one pc a blind frame is as large as it was the last time") {
  constexpr Address kAgain = kBlind + 5;
  TestProcess process = process_with({0xc3});
  process.call(kAgain, kCaller.begin);
  process.call(kCaller.begin + 0x90, kBlind);
  process.call(kCaller.begin + 0xb0, kMain.begin);
  process.call(kOtherBlind + 5, kCaller.begin);
  Stack stack(kStack, kX86_64);
  stack.words(9, 1).word(kCaller.begin + 0x90).words(2, 2);
  for (int i = 0; i < 100; ++i) {
    stack.word(i == 0 ? kMain.begin + 0x60 : kMain.begin + 0x20).words(2, 2);
  }
  stack.word(kCaller.begin + 0xb0).words(2, 2).word(kAgain);
  stack.words(9, 1).word(kCaller.begin + 0x60).words(2, 2).word(kOtherBlind + 5);
  stack.words(9, 1).word(kMain.begin + 0x80).words(2, 3);
  for (int i = 0; i < 8; ++i) {
    stack.word(kMain.begin + 0x20).words(2, 3);
  }
  process.stack(stack.word(0).words(8, 0));
  const auto trace = walk(process, kAgain);
  CAPTURE(pcs(trace));
  CHECK(contains(pcs(trace), "0x4011b0 0x402005 0x401160 0x402805 0x401080 0x401020"));
}

// rustc: what malloc left lies near, the frame of the blind function is large.
TEST_CASE("search: a candidate that called somebody else does not end the search") {
  TestProcess process = process_with({0x55, 0xff, 0xd0, 0x5d, 0xc3});  // calls, so it is no leaf
  process.call(kCaller.begin + 0x90, kBlind);
  Stack stack(kStack, kX86_64);
  stack.words(3, 1).word(kCaller.begin + 0x20).words(2, 1).word(kMain.begin + 0x60).words(2, 2);
  stack.words(600, 1).word(kCaller.begin + 0x90).words(2, 3).word(kMain.begin + 0x60).words(2, 3);
  process.stack(stack.word(0).words(8, 0));
  CHECK(pcs(walk(process, kBlind)) == "0x402000 0x401190 0x401060");
}

// A process of Erlang's machine: its stack lies among its data.
TEST_CASE("search: code of no module has frames of a few KiB") {
  for (const std::size_t words : {500U, 1500U}) {
    CAPTURE(words);
    TestProcess process = process_with({0xc3});
    Stack stack(kStack, kX86_64);
    stack.words(words, 1).word(kCaller.begin + 0x60).words(2, 3).word(kMain.begin + 0x60);
    process.stack(stack.words(2, 3).word(0).words(8, 0));
    const auto of_none = walk(process, kBlind);
    CHECK(of_none.frames.size() == (words < 1024 ? 3 : 1));
    CHECK(contains(of_none.stop.detail, "in code that victim made at run time") == (words > 1024));
    const auto of_module = walk(process, kCode + 0xf00);  // as blind
    CAPTURE(of_module.stop.detail);
    CHECK(of_module.frames.size() == 3);
  }
}

// main of i386, which aligns its stack: lea 4(%esp),%ecx; and $-16,%esp; push -4(%ecx); push %ebp;
// mov %esp,%ebp; push %ecx; sub $12,%esp; push 4(%ecx); push (%ecx); call
TEST_CASE("analysis: at a call the frame is told by what the call leaves alone") {
  const Bytes code{0x8d, 0x4c, 0x24, 0x04, 0x83, 0xe4, 0xf0, 0xff, 0x71, 0xfc,
                   0x55, 0x89, 0xe5, 0x51, 0x83, 0xec, 0x0c, 0xff, 0x71, 0x04,
                   0xff, 0x31, 0xe8, 0x00, 0x10, 0x00, 0x00, 0x90};
  const auto decoder = decoder_for(kI386);
  FunctionCode function{.code = code.view(), .address = kCode};
  function.delimited = code.size();
  std::deque<std::vector<std::byte>> arena;
  for (const AnalysedPoint& point : follow_function(function, kI386, *decoder).points) {
    const auto row = point.row(arena);
    REQUIRE(row);
    if (point.is_call) {
      CHECK(to_string(row->cfa, kI386) == "exp");
    } else if (point.range.begin == kCode + 20) {  // the push before it
      CHECK(to_string(row->cfa, kI386) == "ecx+0");
    }
  }
}

}  // namespace
}  // namespace whocall::test
