// By the function table that the Go runtime walks its stacks with, and by what the runtime's own
// code does where it changes stacks.
#include <memory>
#include <unordered_map>

#include "unwind/code/call_site.h"
#include "unwind/rows/apply_row.h"
#include "unwind/strategies/go_stacks.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class GoStrategy final : public Strategy {
 public:
  explicit GoStrategy(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] std::string_view name() const override { return "pclntab"; }
  [[nodiscard]] Trust trust() const override { return Trust::cfi; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    GoStacks* stacks = stacks_at(callee.lookup_pc(), context);
    const auto function = stacks ? stacks->function_at(callee.lookup_pc()) : std::nullopt;
    if (!function) {
      return nullptr;
    }
    switch (role_of(*function)) {
      case GoRole::from_c:
        return row_from_c(callee, *function, *stacks, context);
      case GoRole::stack_growth:
        return row_of_growth(callee, *function, *stacks, context);
      case GoRole::makes_thread:
        return row_of_thread(callee, *function, *stacks);
      case GoRole::injected:
        return row_of_injected(callee, *function, *stacks, context);
      case GoRole::switches:  // a way back begins behind the call
        return stacks->row_at(*function, callee.pc);
      case GoRole::outermost:
      case GoRole::for_c:
      case GoRole::plain:
        break;
    }
    return stacks->row_at(*function, callee.lookup_pc());
  }

  [[nodiscard]] bool hangs_on_pc(const Activation& callee, const WalkContext& context) override {
    return stacks_at(callee.lookup_pc(), context) == nullptr;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const Module* module = context.process.module_at(callee.lookup_pc());
    std::string text = "the pclntab row of " + (module != nullptr ? module->path : "its module");
    if (row.cfa.kind == CfaRule::Kind::expression) {
      text += ", by the way its code takes back to the other stack,";
    } else {
      text += " (CFA " + to_string(row.cfa, arch_);
      if (const RegisterRule* rule = row.rule_for(row.return_address)) {
        text += ", return address " + to_string(*rule, arch_);
      }
      text += ')';
    }
    return text;
  }

 private:
  // Null where `runtime` lies in no Go program.
  GoStacks* stacks_at(Address runtime, const WalkContext& context) {
    const Module* module = context.process.module_at(runtime);
    if (module == nullptr || module->file == nullptr || !arch_.frame.go) {
      return nullptr;
    }
    auto [known, fresh] = stacks_.try_emplace(module);
    if (fresh) {
      if (auto program = find_go_program(*module->file)) {
        known->second = std::make_unique<GoStacks>(*program, *module, context.process);
      }
    }
    return known->second.get();
  }

  // Folklore. Situation: a callback from C panics. Example: the deferred calls of cgocallbackg1
  // have let the place of the C frames go already. Remedy: C calls Go by crosscall2; where the way
  // back does not lead there, the goroutine's own stack goes on, as in the runtime's own traceback.
  const UnwindRow* row_from_c(const Activation& callee, const GoFunction& function,
                              GoStacks& stacks, const WalkContext& context) {
    const auto* row = stacks.row_at(function, callee.pc, callbacks_below(callee, context));
    if (row != nullptr) {
      const auto back = apply_row(*row, callee, arch_, *context.process.memory);
      const auto caller = back.failure == ApplyFailure::none
                              ? stacks.function_at(back.caller.lookup_pc())
                              : std::nullopt;
      if (caller && role_of(*caller) == GoRole::for_c) {
        return row;
      }
    }
    return stacks.depth_row_at(function, callee.lookup_pc());
  }

  // Folklore. Situation: the stack of a goroutine was to grow, but it was told to give way.
  // Example: newstack has called gopreempt_m, and the thread looks for another goroutine. Remedy: a
  // thread without a present goroutine ends here.
  const UnwindRow* row_of_growth(const Activation& callee, const GoFunction& function,
                                 GoStacks& stacks, const WalkContext& context) const {
    const auto* row =
        stacks.row_at(function, callee.lookup_pc(), stacks.saved_link(callee.registers));
    const bool leads =
        row != nullptr &&
        apply_row(*row, callee, arch_, *context.process.memory).failure == ApplyFailure::none;
    return leads ? row : &stacks.end_row();
  }

  // Folklore. Situation: a thread has just been made. Example: it stands behind the system call, at
  // the top of its empty stack, and what lies above that belongs to others. Remedy: only the new
  // thread has for stack pointer what the call was given; from where the two part on, its code
  // leads back to nobody.
  const UnwindRow* row_of_thread(const Activation& callee, const GoFunction& function,
                                 GoStacks& stacks) const {
    const auto given = callee.registers.get(arch_.frame.go->clone_stack);
    const bool made = given && given == callee.registers.get(arch_.registers.sp);
    const auto* row = made ? nullptr : stacks.row_at(function, callee.pc);
    return row != nullptr ? row : &stacks.end_row();
  }

  const UnwindRow* row_of_injected(const Activation& callee, const GoFunction& function,
                                   GoStacks& stacks, const WalkContext& context) const {
    const auto* row = stacks.row_at(function, callee.lookup_pc());
    if (row == nullptr) {
      return row;
    }
    const bool pushed = arch_.frame.go->pushed_by_injection != 0;
    UnwindRow injected = pushed ? with_pushed_link(*row) : *row;
    injected.injected = was_injected(callee, injected, stacks, context);
    return pushed || injected.injected ? context.keep(std::move(injected)) : row;
  }

  // What interrupts a function pushes its link register, whose own value is the return address.
  [[nodiscard]] UnwindRow with_pushed_link(UnwindRow row) const {
    const Register link = row.return_address;
    const RegisterRule* rule = row.rule_for(link);
    const RegisterRule found = rule != nullptr ? *rule : RegisterRule::from(link);
    std::erase_if(row.rules, [&](const NamedRule& each) { return each.number == link; });
    row.return_address = arch_.registers.pc;
    row.rules.push_back({row.return_address, found});
    row.rules.push_back({link, RegisterRule::stored_at_cfa(0)});
    row.rules.push_back(
        {arch_.registers.sp, RegisterRule::cfa_plus(arch_.frame.go->pushed_by_injection)});
    return row;
  }

  // The frame of `callee` itself, which is the last one if it is among them, is not counted.
  std::uint64_t callbacks_below(const Activation& callee, const WalkContext& context) {
    const std::vector<Frame>& frames = context.frames;
    WalkNotes& notes = context.notes;
    for (std::size_t& i = notes.searched_for_callbacks; i < frames.size(); ++i) {
      notes.callbacks += is_callback(frames[i], context) ? 1 : 0;
    }
    const Frame& last = frames.back();
    const bool same = last.pc == callee.pc && last.sp == callee.registers.get(arch_.registers.sp);
    return notes.callbacks - (same && is_callback(last, context) ? 1 : 0);
  }

  bool is_callback(const Frame& frame, const WalkContext& context) {
    const GoStacks* stacks = stacks_at(frame.lookup_pc(), context);
    const auto function = stacks ? stacks->function_at(frame.lookup_pc()) : std::nullopt;
    return function && role_of(*function) == GoRole::from_c;
  }

  // Folklore. Situation: the handler of SIGSEGV and its kin lets the goroutine go on in
  // runtime.sigpanic, as if the instruction that faulted had called it. Example: x.f with a nil x;
  // the return address is that instruction itself. Where a nil function was called, the word on top
  // of the stack is a true return address, and is left as it is. Remedy: the goroutine's struct
  // keeps the pc of the signal; where it does not hold the return address and an indirect call
  // stands before that, the address was returned to.
  bool was_injected(const Activation& callee, const UnwindRow& row, GoStacks& stacks,
                    const WalkContext& context) const {
    constexpr Address kStructWords = 64;
    const Memory& memory = *context.process.memory;
    const auto caller = apply_row(row, callee, arch_, memory).caller;
    const auto call = call_before(context.process, caller.pc);
    if (!call || !call->indirect) {
      return true;
    }
    const auto goroutine = stacks.goroutine(callee.registers);
    for (Address i = 0; goroutine && i < kStructWords; ++i) {
      if (memory.read_unsigned(*goroutine + i * arch_.abi.pointer_size, arch_.abi.pointer_size,
                               arch_.abi.endian) == caller.pc) {
        return true;
      }
    }
    return !goroutine;
  }

  const Architecture& arch_;
  std::unordered_map<const Module*, std::unique_ptr<GoStacks>> stacks_;
};

}  // namespace

std::unique_ptr<Strategy> make_go_strategy(const Architecture& arch) {
  return std::make_unique<GoStrategy>(arch);
}

}  // namespace whocall
