// Quick steps say what the full walk says: frames, evidence, registers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "arch/i386.h"
#include "arch/x86_64.h"
#include "unwind/walk/quick_walk.h"
#include "unwind_process.h"

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

void check_same(const Backtrace& quick, const Backtrace& full) {
  REQUIRE(quick.frames.size() == full.frames.size());
  for (std::size_t i = 0; i < full.frames.size(); ++i) {
    const Frame& one = quick.frames[i];
    const Frame& other = full.frames[i];
    CHECK(one.pc == other.pc);
    CHECK(one.lookup_pc == other.lookup_pc);
    CHECK(one.sp == other.sp);
    CHECK(one.cfa == other.cfa);
    CHECK(one.trust == other.trust);
    CHECK(one.evidence.list() == other.evidence.list());
    CHECK(one.strategy == other.strategy);
    CHECK(one.interrupted == other.interrupted);
  }
  CHECK(quick.stop.reason == full.stop.reason);
  CHECK(quick.stop.detail == full.stop.detail);
}

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
    REQUIRE(walker.facts().at(back_in(0)) != nullptr);
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
    std::vector<Frame> frames(2);
    frames[0].cfa = full.frames[0].cfa;
    QuickWalk quick(*image, walker.facts(), true, frames);
    quick.begin({full.frames[1].pc, *full.frames[1].registers, false});
    std::size_t steps = 0;
    while (quick.step(false)) {
      ++steps;
      const Registers& wanted = *full.frames.at(frames.size() - 1).registers;
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

}  // namespace
}  // namespace whocall::test
