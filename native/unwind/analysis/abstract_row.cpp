// The unwinding rule that a state amounts to.
#include <algorithm>
#include <array>
#include <utility>

#include "unwind/analysis/abstract_state.h"
#include "unwind/rows/expression_writer.h"

namespace whocall {

using Kind = AbstractValue::Kind;

std::optional<UnwindRow> AbstractState::row(std::deque<std::vector<std::byte>>& arena,
                                            Place place) const {
  const auto cfa = cfa_rule(arena, place);
  if (!cfa) {
    return std::nullopt;
  }
  UnwindRow row;
  row.cfa = *cfa;
  row.return_address = arch_->registers.return_address;
  row.rules.reserve(1 + arch_->registers.callee_saved.size());
  const auto add = [&](Register number) {
    if (const auto rule = saved_rule(number, arena)) {
      row.rules.push_back({number, *rule});
      return true;
    }
    return false;
  };
  if (!add(arch_->registers.return_address)) {
    const auto scratch = place.at_call ? std::nullopt : return_address_in_scratch();
    if (!scratch && !gave_up_return_address()) {
      return std::nullopt;
    }
    row.rules.push_back(
        {arch_->registers.return_address, scratch.value_or(RegisterRule::undefined())});
  }
  for (const Register number : arch_->registers.callee_saved) {
    if (!add(number)) {
      row.rules.push_back({number, RegisterRule::undefined()});
    }
  }
  return row;
}

// Folklore. Situation: musl's __clone, the first function of every thread, takes its argument off
// the stack where a return address would be and never returns. Remedy: code that has taken the
// return address off the stack and put it nowhere has no caller. Not so what moves it to a place
// that cannot be followed (SBCL: pop [rbp+8]).
bool AbstractState::gave_up_return_address() const {
  const AbstractValue sp = get(arch_->registers.sp);
  return arch_->frame.pushed_by_call != 0 && sp.kind == Kind::cfa && sp.offset >= 0 && !moved_away_;
}

// Folklore. Situation: code takes its return address off the stack into a scratch register and
// goes back by a jump. Example: pop %rcx; ...; jmp *%rcx in stubs of the C library. Remedy: until a
// call may change it, the register holds the return address.
std::optional<RegisterRule> AbstractState::return_address_in_scratch() const {
  const AbstractValue wanted = AbstractValue::on_entry(arch_->registers.return_address);
  const auto found = registers_.find(
      [&](Register /*number*/, const AbstractValue& value) { return value == wanted; });
  return found ? std::optional(RegisterRule::from(*found)) : std::nullopt;
}

// Whether the chain's register is what the conventional prologue makes of it.
bool AbstractState::is_link(const FrameChain& chain) const {
  const AbstractValue base = get(chain.base);
  switch (chain.kind) {
    case FrameChain::Kind::frame_pointer:
      return base == AbstractValue::from_cfa(-chain.cfa_offset);
    case FrameChain::Kind::frame_record:
      return base.kind == Kind::cfa && load(base) == AbstractValue::on_entry(chain.base);
    case FrameChain::Kind::back_chain:
      return false;
  }
  return false;
}

// sp, else fp, else any register that holds an address of known distance from the CFA; behind a
// realignment, a word near the aligned base that holds one (the i386 `main` keeps %ecx there).
std::optional<CfaRule> AbstractState::cfa_rule(std::deque<std::vector<std::byte>>& arena,
                                               Place place) const {
  const auto by = [&](Register number) -> std::optional<CfaRule> {
    const AbstractValue value = get(number);
    return value.kind == Kind::cfa ? std::optional(CfaRule::at(number, -value.offset))
                                   : std::nullopt;
  };
  const auto& chain = arch_->frame.chain;
  // A frame record says nothing of how large its frame is; that it does not lead there is no reason
  // to believe another guess less.
  const bool tells_frame = chain && chain->kind == FrameChain::Kind::frame_pointer;
  if ((tells_frame ? place.guessed : place.doubtful) && chain && is_link(*chain)) {
    return by(chain->base);
  }
  const auto [fp, other_fp] = arch_->registers.frame_pointers();
  // Folklore. Situation: a function makes room by turns, and jumps by tables from different depths.
  // Example: printf of the C library for T32, which keeps its frame in r7. Remedy: where the depth
  // of the stack is a guess, a frame pointer that all paths agree on is believed before it; where
  // frames form a chain, one that is a link of it.
  const Register sp = arch_->registers.sp;
  const auto order =
      place.guessed && !chain ? std::array{other_fp, fp, sp} : std::array{sp, other_fp, fp};
  for (const Register preferred : order) {
    if (const auto rule = by(preferred)) {
      return rule;
    }
  }
  const auto& preserved = arch_->registers.callee_saved;
  const auto other = registers_.find([&](Register number, const AbstractValue& value) {
    return value.kind == Kind::cfa &&
           (!place.at_call || std::ranges::find(preserved, number) != preserved.end());
  });
  if (other) {
    return by(*other);
  }
  const auto base = aligned_base();
  for (const Slot& slot : slots()) {
    if (base && slot.where.kind != Kind::cfa && slot.what.kind == Kind::cfa) {
      ExpressionWriter writer(arena, arch_->abi.endian);
      writer.base(base->first, slot.where.offset - base->second);
      if (slot.where.kind == Kind::indexed) {
        writer.base(slot.where.source, 0).times(slot.where.scale).sum();
      }
      writer.deref().plus(-slot.what.offset);
      return CfaRule{CfaRule::Kind::expression, 0, 0, writer.view()};
    }
  }
  return std::nullopt;
}

std::optional<RegisterRule> AbstractState::saved_rule(
    Register number, std::deque<std::vector<std::byte>>& arena) const {
  const AbstractValue wanted = AbstractValue::on_entry(number);
  const auto base = aligned_base();
  // The copy in memory first: a called thunk (get_pc_thunk.bx) may change the register behind the
  // analysis' back, but nobody touches the copy.
  for (const Slot& slot : slots()) {
    if (slot.what != wanted) {
      continue;
    }
    if (slot.where.kind == Kind::cfa) {
      return RegisterRule::stored_at_cfa(slot.where.offset);
    }
    if (base) {
      ExpressionWriter writer(arena, arch_->abi.endian);
      writer.base(base->first, slot.where.offset - base->second);
      return RegisterRule::stored_at(writer.view());
    }
  }
  if (get(number) == wanted) {
    return RegisterRule::same();
  }
  for (const Register other : arch_->registers.callee_saved) {
    if (get(other) == wanted) {
      return RegisterRule::from(other);
    }
  }
  return std::nullopt;
}

// A register that holds an address of known distance from the aligned base.
std::optional<std::pair<Register, std::int64_t>> AbstractState::aligned_base() const {
  for (const Register preferred : {arch_->registers.fp, arch_->registers.sp}) {
    if (get(preferred).kind == Kind::aligned) {
      return std::pair(preferred, get(preferred).offset);
    }
  }
  return std::nullopt;
}

}  // namespace whocall
