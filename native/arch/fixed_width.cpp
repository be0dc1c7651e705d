#include "arch/fixed_width.h"

#include <algorithm>

#include "base/interrupt.h"

namespace whocall {
namespace {

using Flow = Instruction::Flow;

bool goes_on(const Instruction& instruction) {
  return instruction.flow == Flow::next || instruction.flow == Flow::call ||
         instruction.flow == Flow::branch || instruction.flow == Flow::branch_if_unequal;
}

}  // namespace

// A unit with a delay slot is longer than one without, and its slot alone may look like one.
std::optional<Instruction> FixedWidth::unit_before(InstructionDecoder& decoder, ByteView before,
                                                   Address end) const {
  for (const std::uint64_t size : {std::uint64_t{2} * width, std::uint64_t{width}}) {
    if (before.size() >= size) {
      const auto unit = decoder.decode(before.from(before.size() - size), end - size);
      if (unit && unit->size == size) {
        return unit;
      }
    }
  }
  return std::nullopt;
}

std::optional<CallSite> FixedWidth::call_before(InstructionDecoder& decoder, ByteView before,
                                                Address return_address) const {
  const auto unit =
      return_address % width == 0 ? unit_before(decoder, before, return_address) : std::nullopt;
  if (!unit || unit->flow != Flow::call) {
    return std::nullopt;
  }
  CallSite call;
  call.size = static_cast<std::uint8_t>(unit->size);
  call.indirect = !unit->target;
  call.target = unit->target;
  return call;
}

void FixedWidth::append_start_marks(InstructionDecoder& decoder, ByteView code, Address address,
                                    StartMarks& marks) const {
  bool ended = true;
  bool called = false;  // just before
  std::size_t asked = 0;
  for (std::uint64_t at = (width - address % width) % width; at + width <= code.size();) {
    check_interrupt_at(asked++, kManyEntries);
    const auto unit = decoder.decode(code.from(at), address + at);
    // A call of what follows only asks for the pc.
    const bool calls = unit && unit->flow == Flow::call &&
                       (!unit->target || *unit->target != address + at + unit->size);
    if (calls && unit->target && *unit->target - address < code.size()) {
      marks.call_targets.push_back(*unit->target);
    }
    if (unit && unit->landing_pad) {
      marks.landing_pads.push_back(address + at);
    }
    if (unit && ((ended && is_prologue(*unit)) || (called && begins_behind_call(*unit)))) {
      marks.prologues.push_back(address + at);
    }
    ended = !unit || unit->padding ? ended : !goes_on(*unit);
    called = unit && unit->padding ? called : calls;
    at += unit ? unit->size : width;
  }
}

StartFeatures FixedWidth::features_at_start(InstructionDecoder& decoder, ByteView code,
                                            std::uint64_t at) const {
  StartFeatures found;
  if (at % width != 0) {
    return found;
  }
  const auto unit = decoder.decode(code.from(at), at);
  found.prologue = unit && is_prologue(*unit);
  found.landing_pad = unit && unit->landing_pad;
  found.behind_end = flow_ends(decoder, code.slice(0, at).value_or(ByteView()));
  return found;
}

// A nop or two may stand anywhere; many fill a gap between functions.
bool FixedWidth::flow_ends(InstructionDecoder& decoder, ByteView before) const {
  constexpr unsigned kGap = 4;  // instructions
  for (unsigned padding = 0; padding < kGap; ++padding) {
    const auto unit = unit_before(decoder, before, before.size());
    if (!unit || !unit->padding) {
      return unit && !goes_on(*unit);
    }
    before = before.slice(0, before.size() - unit->size).value_or(ByteView());
  }
  return true;
}

void FixedWidth::append_direct_jumps(InstructionDecoder& decoder, ByteView code, Address address,
                                     AddressRange wanted, std::vector<DirectJump>& jumps) const {
  for (std::uint64_t at = (width - address % width) % width; at + width <= code.size();
       at += width) {
    check_interrupt_at(at / width, kManyEntries);
    const auto unit = decoder.decode(code.from(at), address + at);
    if (unit && unit->target && unit->flow != Flow::call && wanted.contains(*unit->target)) {
      jumps.push_back({address + at, *unit->target});
    }
  }
}

// Folklore. Situation: a function ends in a call that never comes back, and nobody but a table of
// pointers knows the next one. Example: the builtins of dash behind sh_error. Remedy: behind a call
// the link register leads back to just there, and nobody keeps that; nor does a function set the
// pointer to its data behind a call, where it reads what it saved.
bool FixedWidth::begins_behind_call(const Instruction& instruction) const {
  return std::ranges::any_of(instruction.list(), [&](const Effect& effect) {
    return (link && effect.kind == Effect::Kind::store && effect.source == *link) ||
           (global_pointer && effect.kind == Effect::Kind::constant &&
            effect.destination == *global_pointer);
  });
}

// Functions begin by lowering the stack pointer, or by saving the link register or setting the
// pointer to their data before they do, or by a call of what lowers the stack pointer for them.
bool FixedWidth::is_prologue(const Instruction& instruction) const {
  return std::ranges::any_of(instruction.list(), [&](const Effect& effect) {
    const bool lowers = effect.kind == Effect::Kind::set && effect.destination == sp &&
                        effect.source == sp && effect.offset < 0;
    const bool saves = link && effect.kind == Effect::Kind::store && effect.destination == sp &&
                       effect.source == *link;
    const bool sets = global_pointer && effect.kind == Effect::Kind::constant &&
                      effect.destination == *global_pointer;
    const bool has_lowered = instruction.flow == Flow::call && effect.destination == sp &&
                             effect.kind == Effect::Kind::clobber;
    return lowers || saves || sets || has_lowered;
  });
}

}  // namespace whocall
