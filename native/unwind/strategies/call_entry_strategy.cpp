// A program counter that is not code, at the innermost frame: something called it.
//
// Folklore. Situation: a call through a NULL, freed or overwritten function pointer. The processor
// fetches from an address that holds no code and faults before one instruction of the "callee" has
// run. Example: `call *%rax` with rax = 0; the core shows rip = 0. gdb and eu-stack stop or go
// astray, because no function, no table and no prologue is there to look at. Remedy: nothing has
// happened since the call, so its return address is still on top of the stack (or in the link
// register) and every other register is the caller's.
#include <utility>

#include "unwind/code/blank_code.h"
#include "unwind/search/return_slot.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class CallEntryStrategy final : public Strategy {
 public:
  explicit CallEntryStrategy(const Architecture& arch) {
    const std::int64_t pushed = arch.frame.pushed_by_call;
    row_.cfa = CfaRule::at(arch.registers.sp, arch.frame.cfa_on_entry);
    row_.return_address = arch.registers.return_address;
    if (pushed != 0) {
      row_.rules.push_back({arch.registers.return_address, RegisterRule::stored_at_cfa(-pushed)});
    }
  }

  [[nodiscard]] std::string_view name() const override { return "call-entry"; }
  [[nodiscard]] Trust trust() const override { return Trust::analysis; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    if (!callee.interrupted || !context.process.is_code(callee.pc)) {
      return callee.interrupted ? &row_ : nullptr;
    }
    return link_holds(callee, context) ? row_of_leaf(callee, context) : nullptr;
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& callee, const WalkContext& context) override {
    return !callee.interrupted || !context.process.is_code(callee.pc);
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& /*row*/,
                                    const WalkContext& context) const override {
    if (in_linkage_table(callee.pc, context.process)) {
      return "the code of the frame below is a stub of the linkage table, which saves nothing, so "
             "the link register";
    }
    if (context.process.is_code(callee.pc)) {
      return "the code of the frame below is not at hand; as its link register leads to another "
             "module, it has called nobody, so that register";
    }
    return (callee.pc == 0 ? std::string("the NULL pc") : "the pc, which is not code,") +
           " was just called, so the word on top of the stack";
  }

 private:
  // Whether the link register still is as the function's caller left it, where no code tells.
  static bool link_holds(const Activation& callee, const WalkContext& context) {
    const ProcessImage& process = context.process;
    const Architecture& arch = *process.arch;
    const auto link =
        arch.registers.link ? callee.registers.get(*arch.registers.link) : std::nullopt;
    const bool readable = !process.memory->run_at(callee.pc).empty() &&
                          !is_blank_code(callee.pc, process, context.code);
    if (!link || *link == 0 || readable) {
      return false;
    }
    const Address caller = arch.code_address(*link) - 1;
    return process.is_code(caller) &&
           (in_linkage_table(callee.pc, process) || leads_out(caller, callee.pc, process));
  }

  // Stubs save nothing, whatever their size; not all linkers tell it (lld's .plt of AArch64).
  static bool in_linkage_table(Address pc, const ProcessImage& process) {
    const Module* module = process.module_at(pc);
    const ElfSection* table =
        module != nullptr && module->file != nullptr ? module->file->section(".plt") : nullptr;
    return table != nullptr && table->range().contains(module->link_address(pc));
  }

  // It may have variables of its own.
  const UnwindRow* row_of_leaf(const Activation& callee, const WalkContext& context) const {
    UnwindRow row = row_;
    row.cfa.offset +=
        in_linkage_table(callee.pc, context.process) ? 0 : cfa_above_leaf(callee, context);
    return row.cfa.offset == row_.cfa.offset ? &row_ : context.keep(std::move(row));
  }

  // Folklore. Situation: the file of the innermost function is missing, and nothing tells whether
  // it has saved its return address. Example: a frameless main of AArch64; its frame pointer is
  // that of its caller in the C library, so the chain would pass over that one. Remedy: what a
  // function calls returns into the function itself, in its own module. A link register that leads
  // to another module is still as the function's caller left it.
  static bool leads_out(Address caller, Address callee, const ProcessImage& process) {
    const Module* there = process.module_at(caller);
    return there != nullptr && there != process.module_at(callee);
  }

  UnwindRow row_;
};

}  // namespace

std::unique_ptr<Strategy> make_call_entry_strategy(const Architecture& arch) {
  return std::make_unique<CallEntryStrategy>(arch);
}

}  // namespace whocall
