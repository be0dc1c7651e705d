#include "unwind/judge/stack_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/byte_view.h"

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

// The word at a slot of a stack, as often as it lies near there. A made-up stack has it asked for
// at each of its words, so what is near is read once.
class Occurrences {
 public:
  Occurrences(Address slot, Address pc, const ProcessImage& process)
      : slot_(slot), pc_(pc), process_(process) {
    const unsigned word = process.arch->registers.size;
    const Mapping* stack = process.mapping_at(slot);
    const Address below = stack != nullptr ? slot - stack->range.begin : 0;
    begin_ = slot - std::min<Address>(below / word, kWindow) * word;
    const std::size_t size = slot - begin_ + (kWindow + 1) * word;
    near_ = ByteView(process.memory->bytes_at(begin_, size, room_), process.arch->abi.endian);
  }

  // Bytes to the next one, in steps of `word`, which is negative for downwards; 0 where none is
  // near.
  [[nodiscard]] Address to_next(Address word) const {
    for (Address words = 1; words <= kWindow; ++words) {
      if (is_near(words * word)) {
        return words * word;
      }
    }
    return 0;
  }

  // How many lie one behind the other at that distance, the slot's own left out; `most` at most.
  [[nodiscard]] int in_a_row(Address distance, int most) const {
    int count = 0;
    while (count < most && is_at(distance * static_cast<Address>(count + 1))) {
      ++count;
    }
    return count;
  }

 private:
  static constexpr Address kWindow = 512;  // words

  [[nodiscard]] bool is_near(Address distance) const {
    const unsigned word = process_.arch->registers.size;
    return near_.read_unsigned(slot_ + distance - begin_, word) == pc_;
  }
  [[nodiscard]] bool is_at(Address distance) const {
    const Architecture& arch = *process_.arch;
    const Memory& memory = *process_.memory;
    return memory.read_unsigned(slot_ + distance, arch.registers.size, arch.abi.endian) == pc_;
  }

  Address slot_;
  Address pc_;
  const ProcessImage& process_;
  Address begin_ = 0;
  std::vector<std::byte> room_{};
  ByteView near_{};
};

}  // namespace

// Folklore. Situation: the code of the callers is not at hand, and a pointer to a function lies in
// many frames. Example: the address of main in those of __libc_start_main and of what it calls.
// Remedy: a return address comes again only in a recursion: directly above itself, or again and
// again at one distance.
bool is_copied_pointer(Address slot, Address pc, const ProcessImage& process) {
  const Occurrences occurrences(slot, pc, process);
  const Address distance = occurrences.to_next(process.arch->registers.size);
  return distance != 0 && occurrences.in_a_row(distance, 2) < 2;
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
  const Address slot = cfa - static_cast<Address>(arch.cfa_above_return_slot());
  const Address word = arch.registers.size;
  const Occurrences occurrences(slot, pc, process);
  return std::ranges::any_of(std::array{word, Address{0} - word}, [&](Address direction) {
    const Address distance = occurrences.to_next(direction);
    return distance != 0 && 1 + occurrences.in_a_row(distance, kTimes) +
                                    occurrences.in_a_row(Address{0} - distance, kTimes) >=
                                kTimes;
  });
}

}  // namespace whocall
