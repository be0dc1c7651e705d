// By what the code itself does: rules computed from the instructions of the function, where no
// unwind table has any.
#include "base/hex.h"
#include "unwind/walk/strategies.h"

namespace whocall {
namespace {

class AnalysisStrategy final : public Strategy {
 public:
  explicit AnalysisStrategy(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] std::string_view name() const override { return "analysis"; }
  [[nodiscard]] Trust trust() const override { return Trust::analysis; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    return context.analyser.row_at(callee.lookup_pc());
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& /*callee*/,
                                 const WalkContext& /*context*/) override {
    return true;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const auto range = context.code.function_at(callee.lookup_pc());
    return "no unwind table covers the frame below; the instructions of the function at " +
           hex(range ? range->begin : callee.pc) + " (CFA " + to_string(row.cfa, arch_) + ")";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  const Architecture& arch_;
};

}  // namespace

std::unique_ptr<Strategy> make_analysis_strategy(const Architecture& arch) {
  return std::make_unique<AnalysisStrategy>(arch);
}

}  // namespace whocall
