#include "unwind/audit/audit_class.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "unwind/audit/row_equivalence.h"

namespace whocall {
namespace {

using Flow = Instruction::Flow;

bool knows_cfa(const AbstractState& state) {
  std::deque<std::vector<std::byte>> arena;
  return state.row(arena, {}).has_value();
}

bool same_cfa(const UnwindRow& one, const UnwindRow& other) {
  return one.cfa.kind == other.cfa.kind && one.cfa.base == other.cfa.base &&
         one.cfa.offset == other.cfa.offset &&
         one.cfa.expression.bytes().data() == other.cfa.expression.bytes().data();
}

class Causes {
 public:
  Causes(std::span<const AuditPlace> places, const AuditedFunction& function)
      : places_(places),
        function_(function),
        predecessors_(places.size()),
        successors_(places.size()),
        classes_(places.size()),
        told_(places.size(), false) {}

  std::vector<AuditClass> run() {
    connect();
    const auto each = [&](auto&& is, auto&& why) {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i].differs() && !told_[i] && is(i)) {
          spread(i, why(i));
        }
      }
    };
    each([&](std::size_t i) { return !goes_on(i); }, [&](std::size_t i) { return explain(i); });
    // What is left goes in circles: the frame is lost around a loop, or the loop is entered from
    // outside.
    each([&](std::size_t i) { return places_[i].outcome != AuditOutcome::cfa_differs; },
         [&](std::size_t i) { return explain(i); });
    each([&](std::size_t i) { return function_.is_jumped_into(places_[i].range.begin); },
         [](std::size_t) { return AuditClass::entered_by_jump; });
    each([](std::size_t) { return true; },
         [&](std::size_t i) { return how_entered(places_[i].range.begin); });
    return std::move(classes_);
  }

 private:
  void connect() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const AuditPlace& place = places_[i];
      if (!place.instruction) {
        continue;
      }
      const Flow flow = place.instruction->flow;
      const bool branches = flow == Flow::branch || flow == Flow::branch_if_unequal;
      if (flow == Flow::next || branches || flow == Flow::call) {
        link(i, place.range.end);
      }
      if ((branches || flow == Flow::jump) && place.instruction->target) {
        link(i, *place.instruction->target);
      }
      if (flow == Flow::call && place.instruction->target) {
        called_.insert(*place.instruction->target);
      }
      has_jump_table_ = has_jump_table_ || (flow == Flow::indirect_jump && !leaves(place));
    }
  }

  // Whether an indirect jump is a tail call: with the stack as a caller left it.
  [[nodiscard]] bool leaves(const AuditPlace& place) const {
    return place.state != nullptr &&
           place.state->get(arch().registers.sp) == AbstractState(arch()).get(arch().registers.sp);
  }

  void link(std::size_t from, Address to) {
    const auto found = std::ranges::lower_bound(
        places_, to, {}, [](const AuditPlace& place) { return place.range.begin; });
    if (found == places_.end() || found->range.begin != to) {
      return;
    }
    const auto next = static_cast<std::size_t>(found - places_.begin());
    if (places_[from].instruction->padding && !same_cfa(*places_[from].row, *found->row)) {
      return;  // What padding leads to, says the table, begins anew.
    }
    // A call whose state does not fit what stands behind it is one that never returns.
    const bool comes_back = !places_[from].is_call() || places_[from].state == nullptr ||
                            found->state == nullptr || !after(from).disagrees(*found->state);
    if (comes_back) {
      predecessors_[next].push_back(from);
      successors_[from].push_back(next);
    }
  }

  // Our state behind the instruction of a place that was reached.
  [[nodiscard]] AbstractState after(std::size_t i) const {
    AbstractState state = *places_[i].state;
    for (const Effect& effect : places_[i].instruction->list()) {
      state.apply(effect);
    }
    if (places_[i].is_call()) {
      state.after_call();
    }
    return state;
  }

  [[nodiscard]] bool goes_on(std::size_t i) const {
    return std::ranges::any_of(predecessors_[i],
                               [&](std::size_t from) { return places_[from].differs(); });
  }

  void spread(std::size_t start, AuditClass why) {
    std::vector<std::size_t> pending{start};
    while (!pending.empty()) {
      const std::size_t i = pending.back();
      pending.pop_back();
      if (!places_[i].differs() || told_[i]) {
        continue;
      }
      told_[i] = true;
      classes_[i] = why;
      pending.insert(pending.end(), successors_[i].begin(), successors_[i].end());
    }
  }

  AuditClass explain(std::size_t i) {
    const AuditPlace& place = places_[i];
    if (function_.in_plt) {
      return AuditClass::plt;
    }
    if (behind_unknown(i)) {
      return AuditClass::unknown_instruction;
    }
    if (place.state == nullptr) {
      return AuditClass::unreached;
    }
    if (place.outcome <= AuditOutcome::return_address_differs) {
      return AuditClass::saved_register;
    }
    if (predecessors_[i].empty() || place.range.begin == function_.range.begin) {
      return how_entered(place.range.begin);
    }
    if (place.outcome == AuditOutcome::cfa_unknown) {
      return why_lost(i, knows_cfa);
    }
    return why_different(i);
  }

  [[nodiscard]] bool behind_unknown(std::size_t i) const {
    const Address end = i == 0 ? function_.range.begin : places_[i - 1].range.end;
    return predecessors_[i].empty() && end < places_[i].range.begin &&
           !function_.is_all_decoded({end, places_[i].range.begin});
  }

  [[nodiscard]] AuditClass how_entered(Address address) const {
    // At its start a function is not taken to be called, by the table or by the analysis.
    if (address == function_.range.begin || function_.is_jumped_into(address)) {
      return AuditClass::entered_by_jump;
    }
    if (called_.contains(address)) {
      return AuditClass::called_inside;
    }
    return has_jump_table_ ? AuditClass::jump_table : AuditClass::landing_pad;
  }

  // Goes back along the flow to where `known` was lost.
  AuditClass why_lost(std::size_t place, const std::function<bool(const AbstractState&)>& known) {
    std::set<std::size_t> seen{place};
    std::vector<std::size_t> pending{place};
    while (!pending.empty()) {
      const std::size_t i = pending.back();
      pending.pop_back();
      if (predecessors_[i].empty()) {
        return how_entered(places_[i].range.begin);
      }
      for (const std::size_t from : predecessors_[i]) {
        if (places_[from].state == nullptr || known(after(from))) {
          continue;
        }
        if (known(*places_[from].state)) {
          return places_[from].is_call() ? AuditClass::kept_over_call
                                         : AuditClass::computed_stack_pointer;
        }
        if (seen.insert(from).second) {
          pending.push_back(from);
        }
      }
    }
    return lost_in_loop(seen, *places_[place].row);
  }

  // Around a loop nothing is known from the first instruction on: what in it loses the frame?
  AuditClass lost_in_loop(const std::set<std::size_t>& loop, const UnwindRow& table) {
    const auto any = [&](auto&& is) {
      return std::ranges::any_of(loop, [&](std::size_t i) { return is(places_[i]); });
    };
    const auto sets_sp = [&](const AuditPlace& place) {
      return place.instruction &&
             std::ranges::any_of(place.instruction->list(), [&](const Effect& effect) {
               return effect.kind == Effect::Kind::clobber &&
                      effect.destination == arch().registers.sp;
             });
    };
    if (any(sets_sp)) {
      return AuditClass::computed_stack_pointer;
    }
    const bool may_change = table.cfa.kind == CfaRule::Kind::register_offset &&
                            table.cfa.base != arch().registers.sp &&
                            std::ranges::find(arch().registers.callee_saved, table.cfa.base) ==
                                arch().registers.callee_saved.end();
    const bool calls = any([](const AuditPlace& place) { return place.is_call(); });
    return may_change && calls ? AuditClass::kept_over_call : AuditClass::joined_paths;
  }

  // Both know a CFA, and it is not the same.
  AuditClass why_different(std::size_t i) {
    const AuditPlace& place = places_[i];
    const auto knows_sp = [&](const AbstractState& state) {
      return state.get(arch().registers.sp).is_address();
    };
    if (!knows_sp(*place.state)) {
      return why_lost(i, knows_sp);
    }
    const bool elsewhere = place.row->cfa.kind == CfaRule::Kind::register_offset &&
                           !place.state->get(place.row->cfa.base).is_address();
    if (elsewhere) {
      return AuditClass::another_stack;
    }
    const std::size_t from = predecessors_[i].front();
    if (places_[from].state == nullptr || after(from).disagrees(*place.state)) {
      return AuditClass::joined_paths;
    }
    const bool row_changed = !same_cfa(*places_[from].row, *place.row);
    if (!row_changed) {
      return agrees_later(i) ? AuditClass::table_late : AuditClass::table_incomplete;
    }
    if (places_[from].is_call()) {
      return AuditClass::call_without_return;
    }
    // An expression reads the frame's address from a word that the analysis does not follow.
    return place.row->cfa.kind == CfaRule::Kind::expression ? AuditClass::computed_stack_pointer
                                                            : AuditClass::table_early;
  }

  [[nodiscard]] bool agrees_later(std::size_t i) const {
    return std::ranges::any_of(
        successors_[i], [&](std::size_t next) { return agrees(*places_[i].state, places_[next]); });
  }

  // Whether the table's row at `place` fits `state`.
  [[nodiscard]] bool agrees(const AbstractState& state, const AuditPlace& place) const {
    return compare_with_table(state, *place.row, place.range.begin, arch()) <=
           AuditOutcome::registers_differ;
  }

  [[nodiscard]] const Architecture& arch() const { return function_.arch; }

  std::span<const AuditPlace> places_;
  const AuditedFunction& function_;
  std::vector<std::vector<std::size_t>> predecessors_;
  std::vector<std::vector<std::size_t>> successors_;
  std::vector<AuditClass> classes_;
  std::vector<bool> told_;
  std::set<Address> called_;  // by the function itself
  bool has_jump_table_ = false;
};

constexpr std::array<std::string_view, kAuditClasses> kClassNames = {
    "plt",
    "unknown-instruction",
    "entered-by-jump",
    "landing-pad",
    "jump-table",
    "called-inside",
    "computed-stack-pointer",
    "joined-paths",
    "kept-over-call",
    "call-without-return",
    "another-stack",
    "table-late",
    "table-early",
    "table-incomplete",
    "saved-register",
    "unreached",
};

}  // namespace

std::string_view to_string(AuditClass which) {
  return kClassNames.at(static_cast<std::size_t>(which));
}

std::vector<AuditClass> classify(std::span<const AuditPlace> places,
                                 const AuditedFunction& function) {
  return Causes(places, function).run();
}

}  // namespace whocall
