#include "unwind/walk/stack_words.h"

#include <algorithm>

namespace whocall {

// A recursion without end runs into the guard page below its stack: the search begins above it.
Address first_word_above(Address sp, const ProcessImage& process) {
  constexpr Address kLargestGuard = Address{16} << 20U;
  const auto& mappings = process.mappings;
  const auto above = std::ranges::upper_bound(
      mappings, sp, {}, [](const Mapping& mapping) { return mapping.range.begin; });
  const bool in_guard = process.mapping_at(sp) == nullptr && above != mappings.end() &&
                        above->range.begin - sp < kLargestGuard;
  const Address first = in_guard ? above->range.begin : sp;
  const unsigned word = process.arch->registers.size;
  return (first + word - 1) & ~Address{word - 1U};
}

// Folklore. Situation: the code of the callers is not at hand, and a pointer to a function lies in
// many frames. Example: the address of main in those of __libc_start_main and of what it calls.
// Remedy: a return address comes again only in a recursion: directly above itself, or again and
// again at one distance.
bool is_copied_pointer(Address slot, Address pc, const ProcessImage& process) {
  constexpr std::uint64_t kWindow = 512;  // words
  const Architecture& arch = *process.arch;
  const auto same = [&](Address at) {
    return process.memory->read_unsigned(at, arch.registers.size, arch.abi.endian) == pc;
  };
  for (std::uint64_t words = 1; words <= kWindow; ++words) {
    const std::uint64_t distance = words * arch.registers.size;
    if (same(slot + distance)) {
      return !same(slot + 2 * distance);
    }
  }
  return false;
}

}  // namespace whocall
