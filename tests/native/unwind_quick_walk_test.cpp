// Quick steps say what the full walk says: frames, evidence, registers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/walk/quick_walk.h"
#include "unwind_again.h"
#include "unwind_random.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kSize = 0x100;
constexpr std::size_t kFunctions = 6;

Address back_in(std::size_t function) { return kCode + function * kSize + 0x85; }

// Function i keeps some of the registers that calls preserve, in words below its return address,
// and i words of its own below them. It calls function i - 1; the first calls itself.
struct Program {
  explicit Program(const Architecture& used) : arch(used), process(used) {
    FrameTable table(arch);
    const auto cie = table.usual_cie();
    process.code(kCode, kFunctions * kSize);
    for (std::size_t i = 0; i < kFunctions; ++i) {
      const Address begin = kCode + i * kSize;
      process.call(back_in(i), i == 0 ? kCode : begin - kSize);
      Bytes rows{0x0e};
      rows.uleb((words_of(i) + 1) * arch.registers.size);
      for (std::size_t k = 0; k < saved_by(i); ++k) {
        rows.append(Bytes{static_cast<std::uint8_t>(0x80U | register_of(k))}.uleb(2 + k));
      }
      table.fde(cie, {begin, begin + kSize}, rows);
    }
    process.module("/bin/quick", {{kCode, kCode + kFunctions * kSize}, 0, table.bytes()});
  }

  // How many registers it saves, of those that calls preserve.
  [[nodiscard]] std::size_t saved_by(std::size_t function) const {
    return function % (arch.registers.callee_saved.size() + 1);
  }
  [[nodiscard]] Register register_of(std::size_t k) const { return arch.registers.callee_saved[k]; }
  // Below its return address.
  [[nodiscard]] std::size_t words_of(std::size_t function) const {
    return saved_by(function) + function;
  }

  // Function 0 `deep` times, and then the others in turn.
  [[nodiscard]] Stack stack(Address base, std::size_t deep) const {
    Stack stack(base, arch);
    std::uint64_t value = 0x1000;
    for (std::size_t level = 0; level + 1 < deep + kFunctions; ++level) {
      const std::size_t function = level < deep ? 0 : level - deep + 1;
      const std::size_t above = level + 1 < deep ? 0 : level + 1 - deep + 1;
      for (std::size_t word = 0; word < words_of(function); ++word) {
        stack.word(value += 8);
      }
      stack.word(above < kFunctions ? back_in(above) : 0);
    }
    return stack.words(16, 0);
  }

  const Architecture& arch;
  TestProcess process;
};

TEST_CASE("quick steps: the same frames and evidence as the full walk") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    Program program(*arch);
    const Stack stack = program.stack(0x70000000, 20);
    program.process.stack(stack);
    const auto image = program.process.image();
    Thread thread;
    thread.registers.set(arch->registers.pc, kCode + 0x80);
    thread.registers.set(arch->registers.sp, stack.base());
    Walker walker(*image);
    WalkOptions explained;  // facts cannot explain
    explained.explain = true;
    const Backtrace full = walker.walk(thread, explained);
    CHECK(full.frames.size() > 20);
    check_same(walker.walk(thread, {}), full);  // learns on the way
    check_same(walker.walk(thread, {}), full);
    REQUIRE(walker.facts().at({back_in(0), false}) != nullptr);
  }
}

TEST_CASE("quick steps: registers are found where the steps saved them") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    Program program(*arch);
    const Stack stack = program.stack(0x70000000, 3);
    program.process.stack(stack);
    const auto image = program.process.image();
    Thread thread;
    thread.registers.set(arch->registers.pc, kCode + 0x80);
    thread.registers.set(arch->registers.sp, stack.base());
    for (const Register number : arch->registers.callee_saved) {
      thread.registers.set(number, 0x100U + number);
    }
    if (arch->registers.thread_pointer) {
      thread.registers.set(*arch->registers.thread_pointer, 0x7777);
    }
    Walker walker(*image);
    walker.walk(thread, {});
    WalkOptions with_registers;
    with_registers.registers = true;
    const Backtrace full = walker.walk(thread, with_registers);
    std::vector<Frame> frames = {full.frames[0], full.frames[1]};
    QuickWalk quick(*image, walker.facts(), true, frames);
    const Activation start{full.frames[1].pc, *full.details[1].registers, false};
    quick.begin(start, false);
    std::size_t steps = 0;
    while (quick.go_on(false, 1)) {
      ++steps;
      const Registers& wanted = *full.details.at(frames.size() - 1).registers;
      const Registers found = quick.activation().registers;
      for (Register number = 0; number < kRegisterLimit; ++number) {
        CHECK(found.get(number) == wanted.get(number));
      }
    }
    CHECK(steps >= kFunctions);
  }
}

TEST_CASE("quick steps: a fact about an address does not make a broken stack whole") {
  Program program(kX86_64);
  const Stack good = program.stack(0x70000000, 8);
  program.process.stack(good);
  Stack bad(0x71000000, kX86_64);
  bad.word(back_in(0)).word(back_in(0)).words(9, 0x4141414141414141);
  program.process.stack(bad);
  const auto image = program.process.image();
  Walker walker(*image);
  WalkOptions explained;
  explained.explain = true;
  for (const Stack* stack : {&good, &std::as_const(bad), &good}) {
    Thread thread;
    thread.registers.set(kX86_64.registers.pc, kCode + 0x80);
    thread.registers.set(kX86_64.registers.sp, stack->base());
    check_same(walker.walk(thread, {}), walker.walk(thread, explained));
  }
}

constexpr Address kLow = 0x70000000;
constexpr Address kHigh = 0x71000000;
constexpr Address kMiddle = kCode + 0x85;  // return addresses in three functions
constexpr Address kOuter = kCode + kSize + 0x85;
constexpr Address kNearer = kCode + 2 * kSize + 0x85;

TEST_CASE("quick steps: an interrupted function stands at another row than one that has called") {
  TestProcess process(kX86_64);
  process.code(kCode, kSize);
  process.call(kMiddle, kCode);
  FrameTable table(kX86_64);
  // Behind the call the stack is one word deeper.
  table.fde(table.usual_cie(), {kCode, kCode + kSize}, Bytes{0x0e, 16, 0x02, 0x85, 0x0e, 24});
  process.module("/bin/rows", {{kCode, kCode + kSize}, 0, table.bytes()});
  Stack stack(kLow, kX86_64);
  stack.word(1).word(kMiddle).word(kMiddle).word(kMiddle).words(6, 0);
  process.stack(stack);
  Again again(process);
  again.check(process, {{"rip", kCode + 4}, {"rsp", kLow}}, {}, "0x401004 0x401085 0x401085");
  again.check(process, {{"rip", kMiddle}, {"rsp", kLow}}, {}, "0x401085 0x401085");
}

TEST_CASE("quick steps: a frame pointer may lead down the stack, or beside its return address") {
  for (const unsigned words_to_return : {1U, 2U}) {
    TestProcess process(kX86_64);
    process.code(kCode, kSize);
    process.call(kMiddle, kCode);
    FrameTable table(kX86_64);
    Bytes rows{0x0c, 6, 16, 0x86, 3};  // CFA = rbp + 16; rbp lies at c-24
    rows.u8(0x90).uleb(words_to_return);
    table.fde(table.usual_cie(), {kCode, kCode + kSize}, rows);
    process.module("/bin/rows", {{kCode, kCode + kSize}, 0, table.bytes()});
    const Address beside = words_to_return == 1 ? kMiddle : 7;
    Stack stack(kLow, kX86_64);
    for (int link = 0; link < 4; ++link) {  // frames of four words; each rbp leads to the next
      stack.word(7).word(stack.here() + 48 - 8).word(kMiddle).word(beside);
    }
    stack.word(7).word(kLow + 80).word(kMiddle).word(beside);  // this one leads back
    process.stack(stack.words(8, 0));
    Again again(process);
    const TestProcess::Values values = {{"rip", kCode + 4}, {"rsp", kLow}, {"rbp", kLow + 16}};
    again.check(process, values, only({"cfi"}),
                "0x401004 0x401085 0x401085 0x401085 0x401085 0x401085");
  }
}

// The frame pointer of the second frame leads to a caller whose call may have gone anywhere. On the
// second stack a call of that very function lies nearer, and the tables lead on from it.
TEST_CASE("quick steps: the chain is not followed where the search finds somebody nearer") {
  TestProcess process(kX86_64);
  process.code(kCode, 4 * kSize);
  process.call(kMiddle, kCode + 3 * kSize);  // the leaf
  process.indirect_call(kOuter);
  process.call(kNearer, kCode);
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), {kCode + 2 * kSize, kCode + 3 * kSize}, Bytes{0x0e, 16});
  process.module("/bin/chain", {{kCode, kCode + 4 * kSize}, 0, table.bytes()});
  for (const Address base : {kLow, kHigh}) {
    Stack stack(base, kX86_64);
    stack.word(base + 64).word(kMiddle).words(2, 5).word(base == kHigh ? kNearer : 5).word(5);
    stack.word(base == kHigh ? 0 : 5).word(5);
    stack.word(base + 96).word(kOuter).words(2, 5).word(0).words(8, 0);
    process.stack(stack);
  }
  Again again(process);
  const WalkOptions options = only({"cfi", "frame-pointer", "scan"});
  for (const Address base : {kLow, kHigh, kLow}) {
    again.check(process, {{"rip", kCode + 3 * kSize + 4}, {"rsp", base}, {"rbp", base}}, options,
                base == kLow ? "0x401304 0x401085 0x401185" : "0x401304 0x401085 0x401285");
  }
}

// Stacks whose links lead on now and then, and rules of all kinds.
TEST_CASE("quick steps: on random stacks they say what the full walk says") {
  std::size_t steps = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Architecture& arch = seed % 2 == 0 ? kX86_64 : kI386;
    Random random(seed);
    TestProcess process = random_code(arch, random, kManyRules);
    for (const Address base : kStacks) {
      Stack stack(base, arch);
      for (std::size_t i = 0; i < kWords; ++i) {
        const bool link = random() % 5 == 0;
        stack.word(link ? stack.here() + arch.registers.size * (random() % 8)
                        : random_word(arch, random));
      }
      process.stack(stack);
    }
    const auto image = process.image();
    Walker walker(*image);
    const std::array options = {WalkOptions{}, only({"cfi"}), only({"frame-pointer", "scan"}),
                                only({"frame-pointer"})};
    for (int round = 0; round < 12; ++round) {
      Thread thread;
      for (Register number = 0; number < 17; ++number) {
        thread.registers.set(number, random_word(arch, random));
      }
      thread.registers.set(arch.registers.pc, kCode + random() % (kFunctions * kFunctionSize));
      thread.registers.set(arch.registers.sp,
                           kStacks[random() % 2] + random() % kWords * arch.registers.size);
      WalkOptions plain = options[static_cast<std::size_t>(round) % options.size()];
      WalkOptions explained = plain;
      explained.explain = true;
      CAPTURE(seed);
      CAPTURE(round);
      const Backtrace full = walker.walk(thread, explained);
      check_same(walker.walk(thread, plain), full);
      check_same(walker.walk(thread, plain), full);
      steps += full.frames.size();
    }
  }
  CHECK(steps > 9500);
}

}  // namespace
}  // namespace whocall::test
