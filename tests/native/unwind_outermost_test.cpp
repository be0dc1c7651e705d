// Where stacks begin, in code without unwind tables.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind_code.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr AddressRange kCode{0x401000, 0x402000};
constexpr Address kStack = 0x7ffc0000;

// A process that stands behind a call at `pc`, with an empty stack.
Backtrace at(const TestProcess& code, Address pc) {
  TestProcess process = code;
  process.indirect_call(pc);
  process.code(0x500000, 0x100);
  Stack stack(kStack, kX86_64);
  process.stack(stack.words(2, 1).word(pc).words(3, 0));
  return process.walk({{"rip", 0x500008}, {"rsp", kStack}}, only({"analysis", "scan"}));
}

// Free Pascal's _start has 73 bytes.
TEST_CASE("outermost: a long entry function is one as far as its code goes on") {
  for (const bool returns : {false, true}) {
    CAPTURE(returns);
    TestProcess process(kX86_64);
    process.map(kCode.begin, std::vector<std::byte>(kCode.size(), std::byte{0x90}), "r-x");
    process.put(kCode.begin, {0x5e});  // pop %rsi
    process.put(kCode.begin + 48, {returns ? 0xc3U : 0x90U});
    process.module("/bin/prog", {kCode, kCode.begin, {}}, true);
    const auto trace = at(process, kCode.begin + 72);
    REQUIRE(trace.frames.size() == 2);
    CHECK((trace.stop.detail == "the entry point of /bin/prog") == !returns);
    const auto near = at(process, kCode.begin + 40);
    CHECK(near.stop.detail == "the entry point of /bin/prog");
  }
}

// glibc's clone3.
TEST_CASE("outermost: a function that made a thread and ends it was called by nobody") {
  const Bytes make{0xb8, 0xb3, 0x01, 0x00, 0x00, 0x0f, 0x05,  // mov $__NR_clone3,%eax; syscall
                   0x74, 0x01, 0xc3,                          // je 1f; ret; 1:
                   0x31, 0xed, 0x48, 0x83, 0xe4, 0xf0};       // xor %ebp,%ebp; and $-16,%rsp
  const Bytes end{0x48, 0x89, 0xc7,                           // mov %rax,%rdi
                  0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05};  // mov $__NR_exit,%eax; syscall
  for (const bool makes : {false, true}) {
    for (const bool ends : {false, true}) {
      CAPTURE(makes);
      CAPTURE(ends);
      const Address begin = kCode.begin + 0x40;
      TestProcess process(kX86_64);
      process.code(kCode.begin, kCode.size());
      process.put(begin, makes ? make : Bytes{0x31, 0xed, 0x48, 0x83, 0xe4, 0xf0});
      const Address pc = begin + (makes ? 18 : 8);
      process.put(pc, ends ? end : Bytes{0xc3});
      process.call(kCode.begin + 0x20, begin);
      process.module("/lib/libc.so.6", {kCode, 0, {}});
      const auto trace = at(process, pc);
      CHECK(trace.frames.size() == 2);
      CHECK((trace.stop.reason == StopReason::end_of_stack) == (makes && ends));
      CHECK((trace.stop.detail == "a new thread begins there") == (makes && ends));
    }
  }
}

// The info table before a function of GHC's, whose words look like code that takes something off
// the stack.
TEST_CASE("outermost: code that nobody is known to enter at its start gives up no return address") {
  constexpr Address kCaller = 0x500000;
  constexpr Address kAt = kCode.begin + 0x40;
  for (const bool entered : {false, true}) {
    CAPTURE(entered);
    // mov or call kAt; ret; padding; kAt: pop %rax; xor %eax,%eax, and no way back
    Bytes code{entered ? 0xe8U : 0xb8U, 0x3b, 0, 0, 0, 0xc3};
    code.fill(0x40 - code.size(), 0xcc).append({0x58, 0x31, 0xc0});
    code.fill(0x1b, 0x90).append({0xeb, 0xfe});
    TestProcess process(kX86_64);
    process.map(kCode.begin, code.get(), "r-x");
    const auto file = CodeFile(kX86_64).code(kCode.begin, code).file();
    process.module("/bin/prog", file, {kCode.begin, kCode.begin + code.size()}, true);
    process.code(kCaller, 0x100);
    process.indirect_call(kCaller + 0x20);
    Stack stack(kStack, kX86_64);
    process.stack(stack.words(2, 1).word(kCaller + 0x20).words(3, 0));
    const auto trace =
        process.walk({{"rip", kAt + 8}, {"rsp", kStack}}, only({"analysis", "scan"}));
    CHECK(pcs(trace) == (entered ? "0x401048" : "0x401048 0x500020"));
  }
}

}  // namespace
}  // namespace whocall::test
