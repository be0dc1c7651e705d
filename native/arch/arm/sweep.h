// Reading ARM code from front to back: in its modes, and without the constants that stand in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "arch/arm/decoder.h"
#include "arch/arm/modes.h"
#include "base/interrupt.h"

namespace whocall::arm {

inline bool goes_on(const Instruction& instruction) {
  return instruction.flow == Instruction::Flow::next ||
         instruction.flow == Instruction::Flow::call ||
         instruction.flow == Instruction::Flow::branch;
}

// Whether flow comes from what stands before an instruction.
enum class Before : std::uint8_t { goes_on, calls, ended };

// An instruction on the way.
struct Swept {
  Address at = 0;
  ByteView code{};  // begins with it
  bool thumb = false;
  const Instruction& instruction;
  Before before = Before::ended;
};

// Calls visit(Swept) for each instruction of `code`, which begins at `address`.
template <typename Visit>
void sweep(ByteView code, Address address, Visit visit) {
  const Modes modes(code, address);
  std::set<Address> constants;
  Before before = Before::ended;
  std::size_t asked = 0;
  for (Address at = address + address % 2; at - address + 2 <= code.size();) {
    check_interrupt_at(asked++, kManyEntries);
    constants.erase(constants.begin(), constants.lower_bound(at));
    if (!constants.empty() && *constants.begin() == at) {
      before = Before::ended;  // behind a call, one that never comes back
      at += 4;
      continue;
    }
    const bool thumb = modes.is_thumb(at);
    const ByteView here = code.from(at - address);
    const auto instruction = decode(here, at, thumb);
    const std::uint64_t width = thumb ? 2 : 4;
    // Behind an end, what begins in the middle of a word is padding, or half a constant.
    if (!instruction || (before == Before::ended && at % 4 == 2 && instruction->size > 2)) {
      at += width;
      continue;
    }
    const AddressRange read = constants_read(here, at, thumb);
    for (Address word = read.begin; word < read.end; word += 4) {
      constants.insert(word);
    }
    visit(Swept{at, here, thumb, *instruction, before});
    if (!instruction->padding) {
      before = instruction->flow == Instruction::Flow::call ? Before::calls
               : goes_on(*instruction)                      ? Before::goes_on
                                                            : Before::ended;
    }
    at += instruction->size;
  }
}

}  // namespace whocall::arm
