#include "arch/arm_code.h"

#include <algorithm>
#include <set>

#include "arch/arm_decoder.h"
#include "arch/arm_fields.h"
#include "base/interrupt.h"

namespace whocall::arm {
namespace {

using Flow = Instruction::Flow;

bool goes_on(const Instruction& instruction) {
  return instruction.flow == Flow::next || instruction.flow == Flow::call ||
         instruction.flow == Flow::branch;
}

// Functions begin by lowering the stack pointer, as a rule with the link register.
bool is_prologue(const Instruction& instruction) {
  return std::ranges::any_of(instruction.list(), [&](const Effect& effect) {
    return effect.kind == Effect::Kind::set && effect.destination == kSp && effect.source == kSp &&
           effect.offset < 0;
  });
}

// Behind a call the link register leads back to just there, and nobody keeps that: there another
// function begins, and the call never comes back.
bool saves_link(const Instruction& instruction) {
  return std::ranges::any_of(instruction.list(), [](const Effect& effect) {
    return effect.kind == Effect::Kind::store && effect.source == kLink;
  });
}

// Whether flow comes from what stands before an instruction.
enum class Before : std::uint8_t { goes_on, calls, ended };

// Reads all of `code` from front to back, in its modes and without the constants in it, and calls
// visit(address, instruction, before).
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
    visit(at, *instruction, before);
    if (!instruction->padding) {
      before = instruction->flow == Flow::call ? Before::calls
               : goes_on(*instruction)         ? Before::goes_on
                                               : Before::ended;
    }
    at += instruction->size;
  }
}

}  // namespace

// bl, blx: in T32 two halves, or one with a register; in A32 one word. The return address comes
// without its mode bit, so that either is looked for; a word of A32 lies at a multiple of 4.
std::optional<CallSite> call_before(ByteView before, Address return_address) {
  const std::uint64_t size = before.size();
  const auto made = [&](std::uint8_t length, bool thumb) -> std::optional<CallSite> {
    if (size < length) {
      return std::nullopt;
    }
    const auto call = decode(before.from(size - length), return_address - length, thumb);
    if (!call || call->size != length || call->flow != Flow::call) {
      return std::nullopt;
    }
    return CallSite{.size = length, .indirect = !call->target, .target = call->target};
  };
  if (auto call = made(4, true)) {
    return call;
  }
  if (auto call = made(2, true)) {
    return call;
  }
  return return_address % 4 == 0 ? made(4, false) : std::nullopt;
}

void append_start_marks(ByteView code, Address address, StartMarks& marks) {
  sweep(code, address, [&](Address at, const Instruction& instruction, Before before) {
    if (instruction.flow == Flow::call && instruction.target &&
        *instruction.target - address < code.size()) {
      marks.call_targets.push_back(*instruction.target);
    }
    if ((before == Before::ended && is_prologue(instruction)) ||
        (before == Before::calls && saves_link(instruction))) {
      marks.prologues.push_back(at);
    }
  });
}

StartFeatures features_at_start(ByteView code, std::uint64_t at) {
  constexpr std::uint64_t kAround = 128;  // bytes
  StartFeatures found;
  if (at % 2 != 0 || at >= code.size()) {
    return found;
  }
  const std::uint64_t first = at < kAround ? 0 : (at - kAround) & ~std::uint64_t{3};
  const std::uint64_t size = std::min(code.size() - first, 2 * kAround);
  const Modes modes(code.slice(first, size).value_or(ByteView()), first);
  const auto instruction = decode(code.from(at), at, modes.is_thumb(at));
  found.prologue = instruction && is_prologue(*instruction);
  found.behind_end = flow_ends(code.slice(0, at).value_or(ByteView()));
  return found;
}

// A return or a jump, with at most a nop behind it. Half of an instruction of A32 looks like a jump
// of T32: so the mode comes first.
bool flow_ends(ByteView all_before) {
  const std::uint64_t size = std::min<std::uint64_t>(all_before.size(), kLongestLook);
  const ByteView before = all_before.from(all_before.size() - size);
  const Modes modes(before.from(size % 4), 0);
  const bool thumb = modes.is_thumb(size < 4 ? 0 : size / 4 * 4 - 4);
  const auto ends = [&](ByteView code, std::uint64_t length) {
    const std::uint64_t first = code.size() - std::min(length, code.size());
    const auto last = decode(code.from(first), first, thumb);
    return last && last->size == length && !goes_on(*last);
  };
  if (!thumb) {
    return ends(before, 4);
  }
  const bool filled = size >= 2 && half_at(before, size - 2) == 0xbf00U;
  const ByteView code = filled ? before.slice(0, size - 2).value_or(ByteView()) : before;
  return ends(code, 4) || ends(code, 2);
}

void append_direct_jumps(ByteView code, Address address, AddressRange wanted,
                         std::vector<DirectJump>& jumps) {
  sweep(code, address, [&](Address at, const Instruction& instruction, Before /*before*/) {
    if (instruction.target && instruction.flow != Flow::call &&
        wanted.contains(*instruction.target)) {
      jumps.push_back({at, *instruction.target});
    }
  });
}

}  // namespace whocall::arm
