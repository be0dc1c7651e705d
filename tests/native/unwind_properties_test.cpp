// What holds for every stack, however wild: the walk ends, frames stay inside what is there, the
// stack pointer rises within a region. The seeds are fixed: a failure can be repeated.
#include <doctest/doctest.h>

#include <algorithm>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/walk/stack_switches.h"
#include "unwind_random.h"

namespace whocall::test {
namespace {

constexpr Address kMostOfAFrame = 0x10000;

// Whether the word below `sp` lies in one of the first frames.
bool was_passed(Address sp, const Backtrace& trace, std::size_t count) {
  return std::any_of(trace.frames.begin(), trace.frames.begin() + count, [&](const Frame& frame) {
    const bool switched = frame.cfa - frame.sp > kMostOfAFrame;  // to the other stack
    return !frame.signal_trampoline && !switched && sp - 1 >= frame.sp && sp - 1 < frame.cfa;
  });
}

void check_frames(const ProcessImage& image, const Backtrace& trace, std::size_t most) {
  REQUIRE_FALSE(trace.frames.empty());
  REQUIRE(trace.frames.size() <= most);
  CHECK_FALSE(trace.stop.detail.empty());
  std::size_t switches = 0;
  for (std::size_t i = 1; i < trace.frames.size(); ++i) {
    const Frame& callee = trace.frames[i - 1];
    const Frame& frame = trace.frames[i];
    if (!frame.interrupted && !image.is_code(frame.lookup_pc())) {
      FAIL("frame " << i << " is not code: " << pcs(trace));
    }
    const bool same_region = image.mapping_at(frame.sp) == image.mapping_at(callee.sp);
    const bool down = same_region && frame.sp <= callee.sp && !callee.signal_trampoline;
    if (down && (frame.trust == Trust::frame_pointer || was_passed(frame.sp, trace, i))) {
      FAIL("frame " << i << " goes down: " << pcs(trace));
    }
    switches += frame.sp <= callee.sp ? 1 : 0;
    const bool sure = frame.trust == Trust::cfi || frame.trust == Trust::context;
    if (!sure && frame.evidence.list().empty()) {
      FAIL("nothing speaks for frame " << i << ": " << pcs(trace));
    }
  }
  CHECK(switches <= StackSwitches::kLimit);
}

std::size_t walk_randomly(const Architecture& arch, unsigned seed, const WalkOptions& options) {
  Random random(seed);
  TestProcess process = random_code(arch, random, kPlain);
  for (const Address base : kStacks) {
    Stack stack(base, arch);
    for (std::size_t i = 0; i < kWords; ++i) {
      stack.word(random_word(arch, random));
    }
    process.stack(stack);
  }
  const auto image = process.image();
  Walker walker(*image);
  std::size_t frames = 0;
  for (int round = 0; round < 20; ++round) {
    Thread thread;
    for (Register number = 0; number < 17; ++number) {
      if (random() % 4 != 0) {
        thread.registers.set(number, random_word(arch, random));
      }
    }
    const Address somewhere = kCode + random() % (kFunctions * kFunctionSize);
    thread.registers.set(arch.registers.pc,
                         random() % 8 == 0 ? random_word(arch, random) : somewhere);
    thread.registers.set(arch.registers.sp,
                         kStacks[random() % 2] + random() % kWords * arch.abi.pointer_size);
    const Backtrace trace = walker.walk(thread, options);
    // Every step up takes a word at least, and only so many steps may go elsewhere.
    check_frames(*image, trace, (StackSwitches::kLimit + 2) * 2 * kWords);
    frames += trace.frames.size();
  }
  return frames;
}

void walk_seeds(const WalkOptions& options, std::size_t least) {
  std::size_t frames = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    frames += walk_randomly(kX86_64, seed, options);
    frames += walk_randomly(kI386, seed, options);
  }
  CHECK(frames > least);  // the rounds get somewhere
}

TEST_CASE("walk properties: random stacks, all strategies") { walk_seeds({}, 40000); }

TEST_CASE("walk properties: random stacks, tables alone") { walk_seeds(only({"cfi"}), 12800); }

TEST_CASE("walk properties: random stacks, frame pointers and signals alone") {
  walk_seeds(only({"frame-pointer", "signal-frame", "call-entry"}), 12300);
}

TEST_CASE("walk properties: explaining changes nothing but the explanations") {
  Random random(5);
  TestProcess process = random_code(kX86_64, random, kPlain);
  Stack stack(kStacks[1], kX86_64);
  for (std::size_t i = 0; i < kWords; ++i) {
    stack.word(random_word(kX86_64, random));
  }
  process.stack(stack);
  for (int round = 0; round < 200; ++round) {
    const TestProcess::Values values = {{"rip", random_word(kX86_64, random)},
                                        {"rsp", kStacks[1] + random() % kWords * 8},
                                        {"rbp", random_word(kX86_64, random)}};
    WalkOptions explained;
    explained.explain = true;
    const auto plain = process.walk(values);
    const auto trace = process.walk(values, explained);
    REQUIRE(pcs(plain) == pcs(trace));
    CHECK(plain.stop.detail == trace.stop.detail);
    REQUIRE(trace.details.size() == trace.frames.size());
    for (const FrameDetails& details : trace.details) {
      CHECK_FALSE(details.explanation.empty());
      CHECK(details.explanation.back() == '.');
    }
  }
}

}  // namespace
}  // namespace whocall::test
