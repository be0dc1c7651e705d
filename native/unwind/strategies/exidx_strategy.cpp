// By the exception tables of ARM (.ARM.exidx): what the compiler wrote down for throw.
//
// Folklore. Situation: such a table has one rule for a function, which holds where exceptions pass,
// at its calls; in the prologue and behind the beginning of an epilogue it is wrong. Example: a
// signal at the first instruction of a function, where sp has not moved yet. Remedy: a frame that
// has called is unwound by the table. For one that was interrupted, it is believed where the
// analysis finds the same caller, and else the analysis alone.
#include "arch/elf_machine.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/exidx_rows.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class ExidxStrategy final : public Strategy {
 public:
  explicit ExidxStrategy(const Architecture& arch) : arch_(arch) {}

  // As all tables of compilers are: -without cfi means these too.
  [[nodiscard]] std::string_view name() const override { return "cfi"; }
  [[nodiscard]] Trust trust() const override { return Trust::cfi; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const UnwindRow* row = rows_of(context).row_at(callee.lookup_pc());
    const bool holds = row != nullptr && (!callee.interrupted || agrees(*row, callee, context));
    return holds ? row : nullptr;
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& callee,
                                 const WalkContext& /*context*/) override {
    return !callee.interrupted;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const Module* module = context.process.module_at(callee.lookup_pc());
    std::string text = "the .ARM.exidx entry of ";
    text += module != nullptr ? module->path : "its module";
    text += " (CFA " + to_string(row.cfa, arch_);
    if (const RegisterRule* rule = row.rule_for(row.return_address)) {
      text += ", return address " + to_string(*rule, arch_);
    }
    text += callee.interrupted ? "), with which the instructions agree," : ")";
    return text;
  }

 private:
  ExidxRows& rows_of(const WalkContext& context) {
    if (!rows_) {
      rows_.emplace(context.process);  // a walker has one process
    }
    return *rows_;
  }

  // Whether the instructions up to the interrupted one lead to the same caller.
  static bool agrees(const UnwindRow& row, const Activation& callee, const WalkContext& context) {
    const UnwindRow* analysed = context.analyser.row_at(callee.lookup_pc());
    if (analysed == nullptr) {
      return false;
    }
    const ProcessImage& process = context.process;
    const AppliedRow ours = apply_row(*analysed, callee, *process.arch, *process.memory);
    const AppliedRow table = apply_row(row, callee, *process.arch, *process.memory);
    return ours.failure == ApplyFailure::none && table.failure == ApplyFailure::none &&
           ours.cfa == table.cfa && ours.caller.pc == table.caller.pc;
  }

  const Architecture& arch_;
  std::optional<ExidxRows> rows_;
};

}  // namespace

std::unique_ptr<Strategy> make_exception_strategy(const Architecture& arch) {
  return elf_machine(arch.abi.elf_machine).exception_index != 0
             ? std::make_unique<ExidxStrategy>(arch)
             : nullptr;
}

}  // namespace whocall
