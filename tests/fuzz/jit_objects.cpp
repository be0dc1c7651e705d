// Hostile JIT compilers: whatever list they keep for debuggers, and whatever files are in it, every
// question has an answer. The first byte says whether the rest is memory that begins with the
// descriptor, or one file of a list that is in order.
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "memory/segment_memory.h"
#include "mutators.h"
#include "process/jit/jit_objects.h"
#include "process/jit/jit_registry.h"
#include "symbols/jit/jit_object_names.h"
#include "unwind/rows/jit_frames.h"

namespace {

using namespace whocall;

constexpr Address kBase = 0x10000000;
constexpr Address kCode = 0x70000000;

void look_up(const JitObject& object, const ProcessImage& image) {
  Address end = 0;
  for (const JitFunction& function : functions_of(object, *image.arch)) {
    if (function.range.empty() || function.range.begin < end ||
        object.code_at(function.range.begin) == nullptr) {
      __builtin_trap();
    }
    end = function.range.end;
  }
  JitFrames frames(object, image);
  std::size_t budget = 64;
  for (const AddressRange& code : object.code) {
    const Address step = code.size() / 16 + 1;
    for (Address at = code.begin; code.contains(at) && budget != 0; at += step, --budget) {
      const CfiRow found = frames.at(at);
      if (found.row != nullptr && !found.row->range.contains(at)) {
        __builtin_trap();
      }
      (void)frames.covers(at);
    }
  }
}

std::vector<std::byte> list_of_one(std::span<const std::byte> file) {
  std::vector<std::byte> memory(56 + file.size());
  const auto put = [&](std::size_t at, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) {
      memory[at + i] = static_cast<std::byte>(value >> (8 * i));
    }
  };
  put(0, 1);
  put(16, kBase + 24);
  put(40, kBase + 56);
  put(48, file.size());
  std::copy(file.begin(), file.end(), memory.begin() + 56);
  return memory;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  const bool whole = (data[0] & 1U) != 0;
  const auto bytes =
      whole ? std::vector<std::byte>(input.begin(), input.end()) : list_of_one(input);
  ProcessImage image;
  image.arch = (data[0] & 2U) != 0 ? &kI386 : &kX86_64;
  image.memory = std::make_unique<SegmentMemory>(
      std::vector<SegmentMemory::Segment>{{kBase, bytes}, {kCode, bytes}});
  const JitObjects objects(image, {{kBase, "fuzz"}});
  for (const JitObject& object : objects.all()) {
    look_up(object, image);
    if (objects.at(object.code.front().begin) == nullptr) {
      __builtin_trap();
    }
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_elf(data, size, most, seed, 1);
}
