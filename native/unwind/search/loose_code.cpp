#include "unwind/search/loose_code.h"

#include "unwind/judge/chain_evidence.h"
#include "unwind/judge/judge.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/chain_row.h"

namespace whocall {
namespace {

// Where a rule leads.
struct LooseStep {
  const UnwindRow* row = nullptr;
  AppliedRow applied;
  CallMatch call = CallMatch::unreadable;
  bool leads = false;

  [[nodiscard]] bool behind_call() const {
    return leads && (call == CallMatch::unknown || call == CallMatch::same_module || proven());
  }
  [[nodiscard]] bool proven() const { return leads && goes_to_callee(call); }
};

class LooseChoice {
 public:
  LooseChoice(const Activation& callee, const WalkContext& context)
      : callee_(callee),
        context_(context),
        arch_(*context.process.arch),
        base_(arch_.frame.chain->base) {}

  [[nodiscard]] LooseStep step(const UnwindRow* row) const {
    LooseStep found;
    found.row = row;
    if (row != nullptr) {
      found.applied = apply_row(*row, callee_, arch_, *context_.process.memory);
      found.leads = found.applied.failure == ApplyFailure::none && moves_up(found.applied);
      found.call = found.leads ? context_.judge.match_call(callee_, found.applied.caller)
                               : CallMatch::unreadable;
    }
    return found;
  }

  [[nodiscard]] bool moves_up(const AppliedRow& applied) const {
    const auto from = callee_.registers.get(arch_.registers.sp);
    const auto to = applied.caller.registers.get(arch_.registers.sp);
    return callee_.interrupted || !from || !to || *to > *from;
  }

  [[nodiscard]] bool agree(const LooseStep& one, const LooseStep& other) const {
    return one.leads && other.leads && one.applied.cfa == other.applied.cfa &&
           one.applied.caller.pc == other.applied.caller.pc &&
           one.applied.caller.registers.get(base_) == other.applied.caller.registers.get(base_);
  }

  // Whether it finds a caller that has no frame of its own below the next of the chain.
  [[nodiscard]] bool refines(const LooseStep& step, const LooseStep& chain) const {
    return step.behind_call() && step.applied.cfa < chain.applied.cfa &&
           step.applied.caller.registers.get(base_) == callee_.registers.get(base_);
  }

  [[nodiscard]] bool known_start() const {
    const auto function = context_.code.function_at(callee_.lookup_pc());
    return function && context_.code.is_known_start(function->begin);
  }

  const UnwindRow* choose(const UnwindRow* by_start) const {
    const LooseStep first = step(by_start);
    const LooseStep second = step(context_.analyser.row_to_return(callee_.pc));
    if (agree(first, second)) {
      return by_start;
    }
    if (!chain_holds(callee_, context_.process)) {
      const bool guess = !first.behind_call() || !known_start();
      return guess && !first.proven() && second.behind_call() ? second.row : by_start;
    }
    const ChainRow row(arch_);
    const LooseStep chain = step(row.get());
    for (const LooseStep& each : {first, second}) {
      if (agree(each, chain)) {
        return each.row;
      }
    }
    for (const LooseStep& each : {first, second}) {
      if (each.proven()) {
        return each.row;
      }
    }
    if (refines(second, chain)) {
      return second.row;
    }
    return refines(first, chain) && known_start() ? by_start : nullptr;
  }

 private:
  const Activation& callee_;
  const WalkContext& context_;
  const Architecture& arch_;
  Register base_;
};

bool same_rule(const UnwindRow& one, const UnwindRow& other, Register base) {
  const auto same = [](const RegisterRule* left, const RegisterRule* right) {
    const bool left_kept = left == nullptr || left->kind == RegisterRule::Kind::same_value;
    const bool right_kept = right == nullptr || right->kind == RegisterRule::Kind::same_value;
    return left_kept || right_kept ? left_kept == right_kept
                                   : left->kind == RegisterRule::Kind::at_cfa &&
                                         right->kind == left->kind && left->offset == right->offset;
  };
  return one.cfa.kind == CfaRule::Kind::register_offset && other.cfa.kind == one.cfa.kind &&
         one.cfa.base == other.cfa.base && one.cfa.offset == other.cfa.offset &&
         same(one.rule_for(base), other.rule_for(base));
}

}  // namespace

bool is_loose_code(Address pc, const ProcessImage& process) {
  const Module* module = process.module_at(pc);
  const auto& chain = process.arch->frame.chain;
  return (module == nullptr || module->file == nullptr) && chain &&
         chain->kind == FrameChain::Kind::frame_pointer && process.is_code(pc);
}

const UnwindRow* rule_in_loose_code(const UnwindRow* by_start, const Activation& callee,
                                    const WalkContext& context) {
  return LooseChoice(callee, context).choose(by_start);
}

bool rule_hangs_on_pc(const UnwindRow* by_start, const Activation& callee,
                      const WalkContext& context) {
  const UnwindRow* by_exit = context.analyser.row_to_return(callee.pc);
  if (by_start == nullptr || by_exit == nullptr) {
    return by_start == by_exit;
  }
  return same_rule(*by_start, *by_exit, context.process.arch->frame.chain->base);
}

}  // namespace whocall
