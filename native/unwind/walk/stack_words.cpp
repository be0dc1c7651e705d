#include "unwind/walk/stack_words.h"

#include <algorithm>
#include <array>

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

namespace {

// The pc's own word, as often as it lies on a stack.
class Occurrences {
 public:
  Occurrences(Address pc, const ProcessImage& process) : pc_(pc), process_(process) {}

  [[nodiscard]] bool at(Address slot) const {
    const Architecture& arch = *process_.arch;
    return process_.memory->read_unsigned(slot, arch.registers.size, arch.abi.endian) == pc_;
  }

  // Bytes from `slot` to the next one, in steps of `word`, which is negative for downwards; 0 where
  // none is near.
  [[nodiscard]] Address to_next(Address slot, Address word) const {
    constexpr int kWindow = 512;  // words
    for (int words = 1; words <= kWindow; ++words) {
      if (at(slot + word * static_cast<Address>(words))) {
        return word * static_cast<Address>(words);
      }
    }
    return 0;
  }

  // How many lie one behind the other from `slot` on, itself left out; `most` at most.
  [[nodiscard]] int in_a_row(Address slot, Address distance, int most) const {
    int count = 0;
    while (count < most && at(slot + distance * static_cast<Address>(count + 1))) {
      ++count;
    }
    return count;
  }

 private:
  Address pc_;
  const ProcessImage& process_;
};

}  // namespace

// Folklore. Situation: the code of the callers is not at hand, and a pointer to a function lies in
// many frames. Example: the address of main in those of __libc_start_main and of what it calls.
// Remedy: a return address comes again only in a recursion: directly above itself, or again and
// again at one distance.
bool is_copied_pointer(Address slot, Address pc, const ProcessImage& process) {
  const Occurrences occurrences(pc, process);
  const Address distance = occurrences.to_next(slot, process.arch->registers.size);
  return distance != 0 && !occurrences.at(slot + 2 * distance);
}

// Compilers align functions; return addresses are anywhere.
//
// Folklore. Situation: a return address happens to be as even as the address of a function.
// Example: a recursion of 170 frames, all of which return to 0x...1a0; each would be taken for a
// pointer to a function. Remedy: nothing but a recursion leaves one code address so often at one
// distance; a table of callbacks is shorter, or differs.
bool looks_returned_to(Address cfa, Address pc, const ProcessImage& process) {
  constexpr int kTimes = 8;
  const Architecture& arch = *process.arch;
  if (pc % arch.code.function_alignment != 0) {
    return true;
  }
  const Occurrences occurrences(pc, process);
  const Address slot = cfa - static_cast<Address>(arch.cfa_above_return_slot());
  const Address word = arch.registers.size;
  return std::ranges::any_of(std::array{word, Address{0} - word}, [&](Address direction) {
    const Address distance = occurrences.to_next(slot, direction);
    return distance != 0 && 1 + occurrences.in_a_row(slot, distance, kTimes) +
                                    occurrences.in_a_row(slot, Address{0} - distance, kTimes) >=
                                kTimes;
  });
}

}  // namespace whocall
