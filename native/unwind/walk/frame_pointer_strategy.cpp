// The frame pointer's chain: the oldest "Who Call Me" of all.
//   (sp, fp, pc) = (fp + cfa_offset, *(fp + saved_fp_offset), *(fp + return_address_offset))
#include "unwind/walk/stack_search.h"
#include "unwind/walk/strategies.h"

namespace whocall {
namespace {

class FramePointerStrategy final : public Strategy {
 public:
  explicit FramePointerStrategy(const Architecture& arch) : arch_(arch) {
    const FramePointerLayout& layout = arch.frame_pointer;
    row_.cfa = CfaRule::at(arch.fp, layout.cfa_offset);
    row_.return_address = arch.return_address;
    row_.rules = {
        {arch.return_address,
         RegisterRule::stored_at_cfa(layout.return_address_offset - layout.cfa_offset)},
        {arch.fp, RegisterRule::stored_at_cfa(layout.saved_fp_offset - layout.cfa_offset)}};
  }

  [[nodiscard]] std::string_view name() const override { return "frame-pointer"; }
  [[nodiscard]] Trust trust() const override { return Trust::frame_pointer; }

  // A frame pointer below the stack pointer, or far from it, is an ordinary register's value.
  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const auto fp = callee.registers.get(arch_.fp);
    const auto sp = callee.registers.get(arch_.sp);
    if (!fp || !sp || *fp < *sp || *fp % arch_.pointer_size != 0) {
      return nullptr;
    }
    const bool on_stack = context.process.mapping_at(*fp) == context.process.mapping_at(*sp);
    return on_stack && !passes_over_callers(callee, context) ? &row_ : nullptr;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& /*row*/,
                                    const WalkContext& context) const override {
    const Module* module = context.process.module_at(callee.pc);
    return "no unwind table of " + (module != nullptr ? module->path : "any module") +
           " covers the frame below, and the frame pointer's chain";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  // Folklore. Situation: the frame below has no rule, and the functions around it use no frame
  // pointer; the register still holds that of a function far up. Example: a return address was
  // overwritten in a program built with -fomit-frame-pointer; %rbp is that of the C library's
  // start, and the chain would pass over all of the program. Remedy: where a caller nearer than the
  // link is sure, and the link's call is not known to go to the frame below, the link is not
  // believed.
  bool passes_over_callers(const Activation& callee, const WalkContext& context) const {
    const auto link = apply_row(row_, callee, arch_, *context.process.memory);
    if (!context.may_search || link.failure != ApplyFailure::none) {
      return false;
    }
    const CallMatch call = context.judge.match_call(callee, link.caller);
    if (call == CallMatch::matches || call == CallMatch::tail_call) {
      return false;
    }
    const auto nearer =
        search_stack(callee,
                     link.cfa + static_cast<Address>(arch_.frame_pointer.return_address_offset -
                                                     arch_.frame_pointer.cfa_offset),
                     context);
    return nearer && nearer->sure;
  }

  const Architecture& arch_;
  UnwindRow row_;
};

}  // namespace

std::unique_ptr<Strategy> make_frame_pointer_strategy(const Architecture& arch) {
  return std::make_unique<FramePointerStrategy>(arch);
}

}  // namespace whocall
