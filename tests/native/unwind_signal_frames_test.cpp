// Signal trampolines against literal contexts as the kernel writes them.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kTrampoline = 0x402000;
constexpr Address kStack = 0x7ffc0000;

const Bytes kRestore64{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
const Bytes kSigreturn32{0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80};
const Bytes kRtSigreturn32{0xb8, 0xad, 0, 0, 0, 0xcd, 0x80};

TestProcess signal_process(const Architecture& arch, const Bytes& trampoline) {
  TestProcess process(arch);
  process.code(kCode, 0x1000);
  process.code(kTrampoline, 0x100);
  process.put(kTrampoline, trampoline);
  process.call(kCode + 0x210, kCode + 0x100);
  return process;
}

// The handler's frame, then struct ucontext: interrupted at `pc` with `sp`, rbp = label "victim".
Stack& push_ucontext64(Stack& stack, Address pc, Address sp, std::uint64_t flags = 0x246,
                       std::uint64_t segments = 0x33) {
  stack.mark("handler").word(0xdead).word(kTrampoline);
  stack.mark("ucontext").words(5, 0);                       // flags, link, stack
  stack.word(0x808).word(0x809).word(0x810).word(0x811);    // r8..r11
  stack.word(0x812).word(0x813).word(0x814).word(0x815);    // r12..r15
  stack.word(0xd1).word(0x51).word_of("victim").word(0xb);  // rdi, rsi, rbp, rbx
  stack.word(0xd).word(0xa).word(0xc).word(sp).word(pc);    // rdx, rax, rcx, rsp, rip
  stack.word(flags).word(segments);                         // eflags; cs and its kin
  return stack.words(18, 0);
}

TEST_CASE("signal frame: x86-64, the interrupted registers are all known again") {
  Stack stack(kStack, kX86_64);
  push_ucontext64(stack, kCode + 0x108, kStack + 0x400);
  stack.up_to(kStack + 0x400).mark("victim sp").word(0).mark("victim").word(0).word(0).words(4, 0);
  TestProcess process = signal_process(kX86_64, kRestore64);
  process.stack(stack);
  WalkOptions options = only({"signal-frame", "frame-pointer"});
  options.registers = true;
  options.explain = true;
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}}, options);
  CHECK(pcs(trace) == "0x401008 0x402000 0x401108");
  CHECK(trusts(trace) == "context frame-pointer context");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].signal_trampoline);
  CHECK_FALSE(trace.frames[1].evidence.has(Evidence::call_before));  // nobody called it
  const Frame& victim = trace.frames[2];
  CHECK(victim.interrupted);
  CHECK(victim.lookup_pc() == kCode + 0x108);  // the very instruction, not the one before
  CHECK(victim.sp == stack.at("victim sp"));
  CHECK(victim.evidence.has(Evidence::signal));
  CHECK(contains(trace.details[2].explanation, "signal trampoline"));
  const TestProcess::Values expected = {{"rax", 0xa},
                                        {"rdx", 0xd},
                                        {"rcx", 0xc},
                                        {"rbx", 0xb},
                                        {"rsi", 0x51},
                                        {"rdi", 0xd1},
                                        {"r8", 0x808},
                                        {"r9", 0x809},
                                        {"r10", 0x810},
                                        {"r11", 0x811},
                                        {"r12", 0x812},
                                        {"r13", 0x813},
                                        {"r14", 0x814},
                                        {"r15", 0x815},
                                        {"rbp", stack.at("victim")},
                                        {"rsp", stack.at("victim sp")},
                                        {"rip", kCode + 0x108}};
  for (const auto& one : expected) {
    CAPTURE(std::string(one.first));
    CHECK(trace.details[2].registers->get(kX86_64.register_named(one.first).value()) == one.second);
  }
}

TEST_CASE("signal frame: x86-64, from an alternate stack down to the thread's own") {
  Stack alternate(0x600000, kX86_64);
  push_ucontext64(alternate.mark("victim"), kCode + 0x108, kStack);
  Stack stack(kStack, kX86_64);
  stack.word(0).words(8, 0);
  TestProcess process = signal_process(kX86_64, kRestore64);
  process.stack(alternate);
  process.stack(stack);
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", 0x600000}, {"rbp", alternate.at("handler")}},
                   only({"signal-frame", "frame-pointer"}));
  CHECK(pcs(trace) == "0x401008 0x402000 0x401108");
}

TEST_CASE("signal frame: a signal for a NULL call leads on through it to the caller") {
  Stack stack(kStack, kX86_64);
  push_ucontext64(stack, 0, kStack + 0x400);
  stack.up_to(kStack + 0x400).word(kCode + 0x210).mark("victim").word(0).word(0).words(4, 0);
  TestProcess process = signal_process(kX86_64, kRestore64);
  process.stack(stack);
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}},
                   only({"signal-frame", "call-entry", "frame-pointer"}));
  CHECK(pcs(trace) == "0x401008 0x402000 0x0 0x401210");
}

// struct sigcontext of i386, 19 words.
void push_context32(Stack& stack, Address pc, Address sp) {
  stack.words(4, 0x2b);                                    // gs, fs, es, ds
  stack.word(0xd1).word(0x51).word_of("victim").word(sp);  // edi, esi, ebp, esp
  stack.word(0xb).word(0xd).word(0xc).word(0xa);           // ebx, edx, ecx, eax
  stack.word(14).word(4).word(pc).word(0x73).word(0x246);  // trapno, err, eip, cs, eflags
  stack.word(sp).word(0x7b);
}

void check_signal32(const Bytes& trampoline, Stack& stack) {
  stack.up_to(kStack + 0x400).mark("victim sp").word(0).mark("victim").word(0).word(0).words(4, 0);
  TestProcess process = signal_process(kI386, trampoline);
  process.stack(stack);
  WalkOptions options = only({"signal-frame", "frame-pointer"});
  options.registers = true;
  const auto trace =
      process.walk({{"eip", kCode + 8}, {"esp", kStack}, {"ebp", stack.at("handler")}}, options);
  CHECK(pcs(trace) == "0x401008 0x402000 0x401108");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].signal_trampoline);
  CHECK(trace.frames[2].interrupted);
  CHECK(trace.frames[2].sp == kStack + 0x400);
  const TestProcess::Values expected = {{"eax", 0xa},
                                        {"ebx", 0xb},
                                        {"ecx", 0xc},
                                        {"edx", 0xd},
                                        {"esi", 0x51},
                                        {"edi", 0xd1},
                                        {"ebp", stack.at("victim")}};
  for (const auto& one : expected) {
    CAPTURE(std::string(one.first));
    CHECK(trace.details[2].registers->get(kI386.register_named(one.first).value()) == one.second);
  }
}

TEST_CASE("signal frame: i386, the old form has the context by value behind the number") {
  Stack stack(kStack, kI386);
  stack.mark("handler").word(0xdead).word(kTrampoline).word(11);
  push_context32(stack, kCode + 0x108, kStack + 0x400);
  check_signal32(kSigreturn32, stack);
}

TEST_CASE("signal frame: i386, the real-time form has a pointer to it") {
  Stack stack(kStack, kI386);
  stack.mark("handler").word(0xdead).word(kTrampoline);
  stack.word(11).word_of("siginfo").word_of("ucontext");
  stack.mark("siginfo").words(32, 0x1f);
  stack.mark("ucontext").words(5, 0);
  push_context32(stack, kCode + 0x108, kStack + 0x400);
  check_signal32(kRtSigreturn32, stack);
}

TEST_CASE("signal frame: what sigaction was given is no frame, whatever lies behind it") {
  // The words that GHC's runtime leaves: heap pointers where a kernel saves registers.
  Stack stack(kStack, kX86_64);
  stack.mark("handler").word(0xdead).word(kTrampoline);
  stack.words(16, 0x4200000000).word(0x4200000000).word(0x4200000010).words(40, 0x4200000000);
  TestProcess process = signal_process(kX86_64, kRestore64);
  process.stack(stack);
  process.map(0x4200000000, std::vector<std::byte>(0x1000), "rw-");
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}});
  CHECK(pcs(trace) == "0x401008 0x402000");
  CHECK(contains(trace.stop.detail, "no kernel saved"));
}

TEST_CASE("signal frame: flags and segments that no kernel writes refute it") {
  for (const auto& words : {std::pair<std::uint64_t, std::uint64_t>{0x246, 0x33},
                            {0x46, 0x33},            // interrupts off
                            {0x246, 0x30},           // the kernel's own segment
                            {0x7f0000000246, 0x33},  // a pointer
                            {0x24e, 0x33}}) {        // a bit that is never set
    CAPTURE(words.first);
    Stack stack(kStack, kX86_64);
    push_ucontext64(stack, 0, kStack + 0x400, words.first, words.second);
    stack.up_to(kStack + 0x400).word(kCode + 0x210).mark("victim").word(0).word(0).words(4, 0);
    TestProcess process = signal_process(kX86_64, kRestore64);
    process.stack(stack);
    const auto trace =
        process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}},
                     only({"signal-frame", "call-entry", "frame-pointer"}));
    const bool true_one = words.first == 0x246 && words.second == 0x33;
    CHECK(pcs(trace) == (true_one ? "0x401008 0x402000 0x0 0x401210" : "0x401008 0x402000"));
  }
}

TEST_CASE("signal frame: the interrupted stack pointer lies on a stack, or just below one") {
  for (const auto& place : {std::pair<Address, std::size_t>{kStack + 0x400, 3},
                            {kStack - 0x800, 3},     // ran into the guard
                            {kCode + 0x80, 2},       // code
                            {0x123456789000, 2}}) {  // nothing at all
    const auto [sp, frames] = place;
    CAPTURE(place.first);
    Stack stack(kStack, kX86_64);
    push_ucontext64(stack, kCode + 0x108, sp);
    stack.up_to(kStack + 0x400).mark("victim").words(8, 0);
    TestProcess process = signal_process(kX86_64, kRestore64);
    process.stack(stack);
    const auto trace =
        process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}},
                     only({"signal-frame", "frame-pointer"}));
    CHECK(trace.frames.size() == frames);
  }
}

TEST_CASE("signal frame: code that resembles a trampoline is none") {
  Stack stack(kStack, kX86_64);
  push_ucontext64(stack, kCode + 0x108, kStack + 0x400);
  stack.words(0x80, 0).mark("victim").words(8, 0);
  TestProcess process =
      signal_process(kX86_64, {0x48, 0xc7, 0xc0, 0x0e, 0, 0, 0, 0x0f, 0x05});  // another call
  process.stack(stack);
  const auto trace =
      process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}},
                   only({"signal-frame", "frame-pointer"}));
  CHECK(trace.frames.size() == 1);
}

// The rows of a C library that are told as those of a signal frame: CFA and pc out of ucontext.
Bytes signal_rows() {
  FrameTable table(kX86_64);
  const Bytes program = Bytes()
                            .u8(0x0f)
                            .uleb(4)
                            .u8(0x77)
                            .sleb(160)
                            .u8(0x06)  // CFA = *(rsp+160)
                            .u8(0x10)
                            .uleb(16)
                            .uleb(3)
                            .u8(0x77)
                            .sleb(168)  // rip at rsp+168
                            .u8(0x10)
                            .uleb(6)
                            .uleb(3)
                            .u8(0x77)
                            .sleb(120);                          // rbp at rsp+120
  table.signal_fde(table.cie(program, "zS"), {0x1fff, 0x2010});  // pc - 1 is looked up
  // The handler's: CFA = rbp+16.
  table.fde(table.cie(Bytes().u8(0x0c).uleb(6).uleb(16).u8(0x90).uleb(1).u8(0x86).uleb(2)),
            {0x1000, 0x1100});
  return table.bytes();
}

// Other instructions than any known trampoline's.
TEST_CASE("signal frame: a table tells of a trampoline that is not known, of a NULL call as well") {
  for (const Address pc : {kCode + 0x108, Address{0}}) {
    for (const std::uint64_t segment : {0x33, 0x30}) {
      Stack stack(kStack, kX86_64);
      push_ucontext64(stack, pc, kStack + 0x400, 0x246, segment);
      stack.up_to(kStack + 0x400).word(kCode + 0x210).mark("victim").word(0).word(0).words(4, 0);
      TestProcess process = signal_process(kX86_64, {0x0f, 0x0b, 0x90});
      process.module("/lib/libc.so", {.code = {0x1000, 0x3000}, .debug_frame = signal_rows()},
                     false, 0x400000);
      process.stack(stack);
      const auto trace =
          process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", stack.at("handler")}},
                       only({"cfi", "call-entry", "frame-pointer"}));
      const std::string found = pcs(trace);
      if (pc != 0) {
        CHECK(found.starts_with("0x401008 0x402000 0x401108"));
      } else {
        const bool kernels = segment == 0x33;
        CHECK(found == (kernels ? "0x401008 0x402000 0x0 0x401210" : "0x401008 0x402000"));
      }
    }
  }
}

}  // namespace
}  // namespace whocall::test
