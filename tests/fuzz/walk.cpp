// Hostile stacks and registers: the input is the registers, then code, then two stacks. The walk
// ends, callers are code, and the stack pointer rises within a region.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "fuzz.h"
#include "memory/segment_memory.h"
#include "process/process_image.h"
#include "unwind/walk/walker.h"

namespace {

using namespace whocall;

constexpr Address kCode = 0x401000;
constexpr Address kStacks[] = {0x600000, 0x7ffc0000};
constexpr std::size_t kRegisters = 17;

// Most random words lie nowhere; a selector byte leads some to code or stacks.
std::uint64_t sensible(std::uint8_t selector, std::uint64_t word) {
  switch (selector % 4) {
    case 0:
      return kCode + word % 0x200;
    case 1:
      return kStacks[0] + word % 0x200;
    case 2:
      return kStacks[1] + word % 0x200;
    default:
      return word;
  }
}

class Words : public fuzz::Input {
 public:
  using fuzz::Input::Input;

  std::uint64_t word() {
    const std::uint8_t selector = byte();
    return sensible(selector, number(8));
  }
};

void map(ProcessImage& image, std::vector<SegmentMemory::Segment>& segments, Address begin,
         std::span<const std::byte> bytes, bool executable) {
  segments.push_back({begin, bytes});
  Mapping mapping;
  mapping.range = {begin, begin + bytes.size()};
  mapping.readable = true;
  mapping.executable = executable;
  if (!bytes.empty()) {
    image.mappings.push_back(mapping);
  }
}

// A function that has not called anybody may have no frame where calls leave the return address in
// a register: its caller's stack pointer is its own.
void check(const ProcessImage& image, const Backtrace& trace) {
  const bool has_link = image.arch->registers.link.has_value();
  for (std::size_t i = 1; i < trace.frames.size(); ++i) {
    const Frame& callee = trace.frames[i - 1];
    const Frame& frame = trace.frames[i];
    const bool stays = has_link && callee.interrupted && frame.sp == callee.sp;
    const bool down = image.mapping_at(frame.sp) == image.mapping_at(callee.sp) &&
                      frame.sp <= callee.sp && !callee.signal_trampoline;
    fuzz::demand(stays || !down);
    fuzz::demand(frame.interrupted || image.is_code(frame.lookup_pc()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Words input(data, size);
  const auto all = architectures();
  const Architecture& arch = *all[input.byte() % all.size()];
  const bool with_mappings = input.byte() % 2 == 0;
  Thread thread;
  for (Register number = 0; number < kRegisters; ++number) {
    thread.registers.set(number, input.word() & arch.address_mask());
  }
  const auto code = input.take(0x200);
  std::vector<std::byte> words;  // the stacks, with words that lead somewhere
  while (!input.rest().empty() && words.size() < 0x400) {
    const std::uint64_t word = input.word();
    for (unsigned i = 0; i < arch.abi.pointer_size; ++i) {
      words.push_back(static_cast<std::byte>(word >> (8 * i)));
    }
  }
  ProcessImage image;
  image.arch = &arch;
  const std::span<const std::byte> stacks(words);
  const std::size_t half = stacks.size() / 2 / arch.abi.pointer_size * arch.abi.pointer_size;
  std::vector<SegmentMemory::Segment> segments;
  map(image, segments, kCode, code, true);
  map(image, segments, kStacks[0], stacks.first(half), false);
  map(image, segments, kStacks[1], stacks.subspan(half), false);
  if (!with_mappings) {
    image.mappings.clear();
  }
  image.memory = std::make_unique<SegmentMemory>(std::move(segments));
  WalkOptions options;
  options.explain = true;
  const Backtrace trace = Walker(image).walk(thread, options);
  fuzz::demand(!trace.frames.empty() && trace.frames.size() <= 100000);
  if (with_mappings) {
    check(image, trace);
  }
  return 0;
}
