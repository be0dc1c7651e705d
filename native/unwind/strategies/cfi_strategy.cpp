// By the module's unwind tables: what the compiler itself wrote down.
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class CfiStrategy final : public Strategy {
 public:
  explicit CfiStrategy(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] std::string_view name() const override { return "cfi"; }
  [[nodiscard]] Trust trust() const override { return Trust::cfi; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const auto found = context.cfi.row_at(callee.lookup_pc());
    return found ? found->row : nullptr;
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& /*callee*/,
                                 const WalkContext& /*context*/) override {
    return true;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const auto found = context.cfi.row_at(callee.lookup_pc());
    const bool debug = found && found->format == CallFrameInfo::Format::debug_frame;
    const Module* module = context.process.module_at(callee.lookup_pc());
    const bool pe = module != nullptr && module->file != nullptr &&
                    module->file->section(".pdata") != nullptr;  // rows that elf_of_pe() wrote
    const bool listed =
        module != nullptr && module->file != nullptr &&
        (module->state == ModuleState::missing || module->state == ModuleState::mismatch);
    std::string text = pe       ? "the .pdata row of "
                       : listed ? "the STACK CFI record of the symbol file for "
                       : debug  ? "the .debug_frame row of "
                                : "the .eh_frame row of ";
    text += found ? found->owner : "its module";
    text += " (CFA " + to_string(row.cfa, arch_);
    if (const RegisterRule* rule = row.rule_for(row.return_address)) {
      text += ", return address " + to_string(*rule, arch_);
    }
    return text + ")";
  }

 private:
  const Architecture& arch_;
};

}  // namespace

std::unique_ptr<Strategy> make_cfi_strategy(const Architecture& arch) {
  return std::make_unique<CfiStrategy>(arch);
}

}  // namespace whocall
