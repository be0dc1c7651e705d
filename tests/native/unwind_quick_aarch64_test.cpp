// Quick steps where calls leave the return address in a register, and frames begin with records.
#include <doctest/doctest.h>

#include "unwind/walk/quick_walk.h"
#include "unwind_again.h"
#include "unwind_deep_calls.h"

namespace whocall::test {
namespace {

constexpr std::size_t kDepth = 60;
constexpr std::size_t kChain = 24;
constexpr Address kBase = 0x7f0000000000;

// How many frames quick steps alone add to the first two, of which the walker knows all.
std::size_t quick_frames(const Walker& walker, const Backtrace& full, bool may_search) {
  std::vector<Frame> frames = {full.frames[0], full.frames[1]};
  QuickWalk quick(walker.process(), walker.facts(), may_search, frames);
  const Activation start{full.frames[1].pc, *full.details[1].registers, false};
  quick.begin(start, false);
  quick.go_on(false, full.frames.size());
  return frames.size() - 2;
}

TEST_CASE("quick steps: they serve the whole of a known stack on AArch64 as on x86-64") {
  for (const Architecture* arch : {&kX86_64, &kAArch64}) {
    CAPTURE(std::string(arch->name));
    for (const bool has_tables : {true, false}) {
      const bool by_record = arch->frame.chain->kind == FrameChain::Kind::frame_record;
      if (!has_tables && by_record) {
        continue;  // a record tells the CFA by a word in memory, which no compact rule says
      }
      DeepCalls calls(*arch, kDepth, kChain, has_tables);
      const Thread thread = calls.thread(kBase);
      const auto image = calls.image();
      Walker walker(*image);
      const WalkOptions options = has_tables ? WalkOptions() : only({"frame-pointer"});
      WalkOptions explained = options;  // facts cannot explain
      explained.explain = true;
      explained.registers = true;
      const Backtrace full = walker.walk(thread, explained);
      REQUIRE(full.frames.size() == kDepth);
      CHECK(full.frames.back().pc == calls.back_in(kChain - 1));
      CHECK(full.frames[1].trust == (has_tables ? Trust::cfi : Trust::frame_pointer));
      check_same(walker.walk(thread, options), full);  // learns on the way
      check_same(walker.walk(thread, options), full);
      CHECK(quick_frames(walker, full, has_tables) == kDepth - 2);
    }
  }
}

}  // namespace
}  // namespace whocall::test
