// What holds for every stack, however wild: the walk ends, frames stay inside what is there, the
// stack pointer rises within a region. The seeds are fixed: a failure can be repeated.
#include <doctest/doctest.h>

#include <random>

#include "arch/i386.h"
#include "arch/x86_64.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStacks[] = {0x600000, 0x7ffc0000};
constexpr std::size_t kWords = 96;
constexpr std::size_t kFunctions = 8;
constexpr std::size_t kFunctionSize = 0x100;

using Random = std::mt19937;

// Functions with rows of several kinds, every second one without; calls between all of them.
TestProcess random_code(const Architecture& arch, Random& random) {
  FrameTable table(arch);
  const auto cie = table.usual_cie();
  TestProcess process(arch);
  process.code(kCode, kFunctions * kFunctionSize);
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const Address begin = kCode + i * kFunctionSize;
    for (unsigned k = 1; k <= 4; ++k) {
      process.call(begin + 0x20 * k, kCode + random() % kFunctions * kFunctionSize);
    }
    const Bytes programs[] = {
        Bytes{0x0e}.uleb(arch.abi.pointer_size * (1 + random() % 6)),
        Bytes{0x0c}
            .uleb(arch.registers.fp)
            .uleb(2U * arch.abi.pointer_size)
            .u8(0x80U | arch.registers.fp)
            .uleb(2),
        Bytes{0x0f, 3}.u8(0x70U + arch.registers.sp).sleb(arch.abi.pointer_size).u8(0x06),
    };
    if (i % 2 == 0) {
      table.fde(cie, {begin, begin + kFunctionSize}, programs[random() % 3]);
    }
  }
  const AddressRange code{kCode, kCode + kFunctions * kFunctionSize};
  process.module("/bin/random", {code, kCode + 7 * kFunctionSize, table.bytes()}, true);
  const auto& trampolines = arch.os.signal_trampolines;
  Bytes trampoline;
  for (const std::uint8_t byte : trampolines[random() % trampolines.size()].code) {
    trampoline.u8(byte);
  }
  process.put(kCode + 5 * kFunctionSize + 0x90, trampoline);
  return process;
}

// What stacks are made of: return addresses, stack addresses, code, numbers, noise.
std::uint64_t random_word(const Architecture& arch, Random& random) {
  const Address function = kCode + random() % kFunctions * kFunctionSize;
  const std::uint64_t noise = (std::uint64_t{random()} << 32U) | random();
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      return function + 0x20 * (1 + random() % 4);
    case 3:
      return kStacks[random() % 2] + random() % kWords * arch.abi.pointer_size;
    case 4:
      return kStacks[random() % 2] + random() % (kWords * 8);
    case 5:
      return random() % 2 == 0 ? kCode + 5 * kFunctionSize + 0x90 : function + random() % 0x100;
    case 6:
      return random() % 4;
    default:
      return noise & arch.address_mask();
  }
}

void check_frames(const ProcessImage& image, const Backtrace& trace, std::size_t most) {
  REQUIRE_FALSE(trace.frames.empty());
  REQUIRE(trace.frames.size() <= most);
  CHECK_FALSE(trace.stop.detail.empty());
  std::size_t switches = 0;
  for (std::size_t i = 1; i < trace.frames.size(); ++i) {
    const Frame& callee = trace.frames[i - 1];
    const Frame& frame = trace.frames[i];
    if (!frame.interrupted && !image.is_code(frame.lookup_pc)) {
      FAIL("frame " << i << " is not code: " << pcs(trace));
    }
    const bool same_region = image.mapping_at(frame.sp) == image.mapping_at(callee.sp);
    if (same_region && frame.sp <= callee.sp && !callee.signal_trampoline) {
      FAIL("frame " << i << " goes down: " << pcs(trace));
    }
    switches += frame.sp <= callee.sp ? 1 : 0;
    const bool sure = frame.trust == Trust::cfi || frame.trust == Trust::context;
    if (!sure && frame.evidence.list().empty()) {
      FAIL("nothing speaks for frame " << i << ": " << pcs(trace));
    }
  }
  CHECK(switches <= Walker::kStackSwitchLimit);
}

std::size_t walk_randomly(const Architecture& arch, unsigned seed, const WalkOptions& options) {
  Random random(seed);
  TestProcess process = random_code(arch, random);
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
    check_frames(*image, trace, (Walker::kStackSwitchLimit + 2) * 2 * kWords);
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
  TestProcess process = random_code(kX86_64, random);
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
    for (const Frame& frame : trace.frames) {
      CHECK_FALSE(frame.explanation.empty());
      CHECK(frame.explanation.back() == '.');
    }
  }
}

}  // namespace
}  // namespace whocall::test
