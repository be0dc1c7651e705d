// What searches may cost on made-up stacks, counted in looks at memory.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ffc0000;
constexpr AddressRange kMain{0x401000, 0x401100};
constexpr Address kBlind = 0x402000;

class CountingMemory final : public Memory {
 public:
  CountingMemory(std::unique_ptr<Memory> memory, std::size_t& looks)
      : memory_(std::move(memory)), looks_(looks) {}
  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override {
    ++looks_;
    return memory_->run_at(address);
  }

 private:
  std::unique_ptr<Memory> memory_;
  std::size_t& looks_;
};

struct Walked {
  std::size_t frames = 0;
  std::size_t looks = 0;
};

Walked walk(const TestProcess& process, Address pc) {
  Walked walked;
  const auto image = process.image();
  image->memory = std::make_unique<CountingMemory>(std::move(image->memory), walked.looks);
  Thread thread;
  thread.registers = process.registers({{"rip", pc}, {"rsp", kStack}});
  walked.frames = Walker(*image).walk(thread, only({"cfi", "scan"})).frames.size();
  return walked;
}

// kMain has 16 bytes of locals; code of no module called it, and calls it.
TestProcess process_with(Stack& stack) {
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), kMain, Bytes{0x0e}.uleb(24));  // DW_CFA_def_cfa_offset
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.code(kBlind, 0x1000);
  process.module("/bin/victim", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
  process.call(kMain.begin + 0x20, kMain.begin);
  process.call(kMain.begin + 0x60, kBlind);
  process.indirect_call(kMain.begin + 0x80);
  process.call(kBlind + 0x40, kMain.begin);
  process.stack(stack.words(8, 0));
  return process;
}

// The search for the caller finds it at the first word, each time; what is looked for before is the
// function that jumped away, of which nothing stands on the stack.
TEST_CASE("search: looking for who jumped away costs no more than so much in all") {
  constexpr std::size_t kTimes = 2000;
  Stack stack(kStack, kX86_64);
  for (std::size_t i = 0; i < kTimes; ++i) {
    stack.word(kMain.begin + 0x60).words(2, kMain.begin + 0x80);
    for (int step = 0; step < 7; ++step) {
      stack.word(kMain.begin + 0x20).words(2, kMain.begin + 0x80);
    }
    stack.word(kBlind + 0x40);
  }
  const Walked walked = walk(process_with(stack), kBlind + 0x40);
  CHECK(walked.frames > kTimes * 9);
  CHECK(walked.looks < 2'500'000);  // 4,096 words each time would be 8 million
}

// push %rbp; mov %rsp,%rbp; 4 KB of other instructions; pop %rbp; ret. Each calls the one before.
TEST_CASE("walker: a stack on which all functions of a large program stand") {
  constexpr std::size_t kFunctions = 2000;
  constexpr std::size_t kSize = 4096;
  constexpr Address kBegin = 0x500000;
  TestProcess process(kX86_64);
  process.code(kBegin, kFunctions * kSize);
  Stack stack(kStack, kX86_64);
  Bytes code{0x55, 0x48, 0x89, 0xe5};
  while (code.size() + 8 < kSize) {
    code.u32(0x00841f0f).u32(0);  // nop of eight bytes
  }
  while (code.size() < kSize - 2) {
    code.u8(0x90);
  }
  code.u8(0x5d).u8(0xc3);
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const Address begin = kBegin + i * kSize;
    process.put(begin, code);
    process.call(begin + 0x105, begin - kSize);
    stack.word(stack.here() + 16).word(begin + kSize + 0x105);
  }
  process.stack(stack.words(8, 0));
  const auto trace = process.walk({{"rip", kBegin + 0x105}, {"rsp", kStack}, {"rbp", kStack}});
  CAPTURE(trace.stop.detail);
  CHECK(trace.frames.size() > kFunctions / 3);
  CHECK(trace.frames.size() < kFunctions * 2 / 3);
  CHECK(contains(trace.stop.detail, "after 4194304 bytes of code were analysed"));
}

// Each word may be a return address that a recursion leaves as often as is asked for, or none.
TEST_CASE("search: addresses as even as functions', of which no code is seen") {
  constexpr Address kUnseen = 0x10000000;
  constexpr std::size_t kWords = 20'000;
  TestProcess process(kX86_64);
  process.code(kBlind, 0x1000);
  process.map_unread("/nowhere/lib", {kUnseen, kUnseen + (kWords << 4U)}, "r-x");
  process.module("/nowhere/lib", nullptr, {kUnseen, kUnseen + (kWords << 4U)});
  Stack stack(kStack, kX86_64);
  for (std::size_t i = 1; i < kWords; ++i) {
    stack.word(kUnseen + (i << 4U));
  }
  process.stack(stack);
  const Walked walked = walk(process, kBlind + 0x40);
  CHECK(walked.frames == 1);
  CHECK(walked.looks < 20 * kWords);  // a look at each word that may hold it again: 1,024
}

}  // namespace
}  // namespace whocall::test
