// The frame pointer's chain: the oldest "Who Call Me" of all.
//   (sp, fp, pc) = (fp + cfa_offset, *(fp + saved_fp_offset), *(fp + return_address_offset))
#include "unwind/strategies.h"

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
    return context.process.mapping_at(*fp) == context.process.mapping_at(*sp) ? &row_ : nullptr;
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
  const Architecture& arch_;
  UnwindRow row_;
};

}  // namespace

std::unique_ptr<Strategy> make_frame_pointer_strategy(const Architecture& arch) {
  return std::make_unique<FramePointerStrategy>(arch);
}

}  // namespace whocall
