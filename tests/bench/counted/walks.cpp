// Warm walks to be counted: of a stack of 24 frames with unwind tables, again and again, with one
// walker, which has walked it before.
//
//   whocall_walks INSTRUCTION-SET TIMES
//
// Prints how many frames a walk has, and how many of those quick steps alone add to the first.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../native/unwind_deep_calls.h"
#include "unwind/walk/quick_walk.h"

namespace whocall {
namespace {

constexpr std::size_t kDepth = 24;
constexpr Address kStack = 0x7f0000000000;

std::size_t quick_frames(const Walker& walker, const Thread& thread, const Frame& first) {
  std::vector<Frame> frames = {first};
  QuickWalk quick(walker.process(), walker.facts(), true, frames);
  const Activation start{first.pc, thread.registers, true};
  quick.begin(start, false);
  quick.go_on(false, kDepth);
  return frames.size() - 1;
}

int walk(const Architecture& arch, long times) {
  test::DeepCalls calls(arch, kDepth, kDepth);
  const Thread thread = calls.thread(kStack);
  const auto image = calls.image();
  Walker walker(*image);
  const WalkOptions options;
  Backtrace trace = walker.walk(thread, options);
  const std::size_t quick = quick_frames(walker, thread, trace.frames.front());
  for (long i = 0; i < times; ++i) {
    trace = walker.walk(thread, options);
  }
  std::printf("%zu %zu\n", trace.frames.size(), quick);
  return 0;
}

}  // namespace
}  // namespace whocall

int main(int count, char** words) {
  if (count == 3) {
    for (const auto* arch : {&whocall::kX86_64, &whocall::kAArch64}) {
      if (arch->name == words[1]) {
        return whocall::walk(*arch, std::strtol(words[2], nullptr, 10));
      }
    }
  }
  std::fputs("whocall_walks x86_64|aarch64 TIMES\n", stderr);
  return 2;
}
