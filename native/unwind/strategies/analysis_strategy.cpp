// By what the code itself does: rules computed from the instructions of the function, where no
// unwind table has any.
#include <utility>

#include "arch/split_stack.h"
#include "base/hex.h"
#include "unwind/code/call_site.h"
#include "unwind/judge/sentences.h"
#include "unwind/rows/apply_row.h"
#include "unwind/search/loose_code.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class AnalysisStrategy final : public Strategy {
 public:
  explicit AnalysisStrategy(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] std::string_view name() const override { return "analysis"; }
  [[nodiscard]] Trust trust() const override { return Trust::analysis; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const UnwindRow* row = context.analyser.row_at(callee.lookup_pc());
    if (is_loose_code(callee.lookup_pc(), context.process)) {
      row = rule_in_loose_code(row, callee, context);
    }
    if (row == nullptr && !callee.interrupted) {
      return context.analyser.row_behind_call(callee.pc);
    }
    if (row != nullptr && callee.interrupted && stands_on_own_frame(*row, callee, context)) {
      return context.keep(with_saved_fp(*row));
    }
    const auto outer =
        row != nullptr && !callee.interrupted ? beyond_own_return(callee, context) : std::nullopt;
    return outer ? context.keep(with_outer_return(*row, *outer)) : row;
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& callee, const WalkContext& context) override {
    return !callee.interrupted &&
           (!is_loose_code(callee.lookup_pc(), context.process) ||
            rule_hangs_on_pc(context.analyser.row_at(callee.lookup_pc()), callee, context));
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const auto range = context.code.function_at(callee.lookup_pc());
    if (&row == context.analyser.row_behind_call(callee.pc)) {
      return why_no_table(callee, context) +
             ", which was called on another stack; what stands behind the call there";
    }
    if (&row == context.analyser.row_to_return(callee.pc)) {
      return why_no_table(callee, context) +
             ", and no file its code; what that does until it returns (CFA " +
             to_string(row.cfa, arch_) + ")";
    }
    return why_no_table(callee, context) + "; the code of the function at " +
           hex(range ? range->begin : callee.pc) + " (CFA " + to_string(row.cfa, arch_) + ")";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  // Folklore. Situation: the caller makes the frame and points the frame pointer at it; all that
  // the function does is to put the return address there. Example: SBCL: sub $16,%rsp; mov
  // %rbp,(%rsp); mov %rsp,%rbp; call, and there pop 8(%rbp): its instructions save no frame
  // pointer. Remedy: a caller's frame pointer never leads below the caller's stack pointer. Where
  // it would, to a frame that ends where the rule says, the caller's is the one saved there.
  bool stands_on_own_frame(const UnwindRow& row, const Activation& callee,
                           const WalkContext& context) const {
    const auto& chain = arch_.frame.chain;
    if (!chain || chain->kind != FrameChain::Kind::frame_pointer) {
      return false;
    }
    const RegisterRule* rule = row.rule_for(chain->base);
    const auto fp = callee.registers.get(chain->base);
    if (!fp || (rule != nullptr && rule->kind != RegisterRule::Kind::same_value)) {
      return false;
    }
    const auto applied = apply_row(row, callee, arch_, *context.process.memory);
    return applied.failure == ApplyFailure::none &&
           applied.cfa == *fp + static_cast<Address>(chain->cfa_offset);
  }

  [[nodiscard]] UnwindRow with_saved_fp(UnwindRow row) const {
    const FrameChain& chain = *arch_.frame.chain;
    std::erase_if(row.rules, [&](const NamedRule& each) { return each.number == chain.base; });
    row.rules.push_back(
        {chain.base, RegisterRule::stored_at_cfa(chain.link_offset - chain.cfa_offset)});
    return row;
  }

  std::optional<std::int32_t> beyond_own_return(const Activation& callee,
                                                const WalkContext& context) const {
    CodeBytes room{};
    return outer_return(arch_, code_before(context.process, callee.pc, kLongestOuterCall, room));
  }

  // The frame ends higher; what it saved lies where it lay.
  [[nodiscard]] UnwindRow with_outer_return(UnwindRow row, std::int32_t outer) const {
    row.cfa.offset += outer;
    for (NamedRule& each : row.rules) {
      if (each.number != row.return_address && each.rule.kind == RegisterRule::Kind::at_cfa) {
        each.rule.offset -= outer;
      }
    }
    return row;
  }

  const Architecture& arch_;
};

}  // namespace

std::unique_ptr<Strategy> make_analysis_strategy(const Architecture& arch) {
  return std::make_unique<AnalysisStrategy>(arch);
}

}  // namespace whocall
