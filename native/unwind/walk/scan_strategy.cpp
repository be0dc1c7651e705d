// Searching the stack for the caller when no rule is known: the last resort.
#include "unwind/walk/stack_search.h"
#include "unwind/walk/standing_frame.h"
#include "unwind/walk/strategies.h"

namespace whocall {
namespace {

class ScanStrategy final : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "scan"; }
  [[nodiscard]] Trust trust() const override { return Trust::scan; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    // What a search has found was called, and has not jumped there.
    const bool found = !context.frames.empty() && context.frames.back().trust == Trust::scan;
    if (auto standing =
            found || context.planted ? std::nullopt : find_standing_frame(callee, context)) {
      return context.keep(std::move(*standing));
    }
    auto best = search_stack(callee, std::nullopt, context);
    return best ? context.keep(std::move(best->row)) : nullptr;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const Module* module = context.process.module_at(callee.pc);
    const RegisterRule* saved = row.rule_for(row.return_address);
    const std::int64_t skipped = row.cfa.offset + (saved != nullptr ? saved->offset : 0);
    return "no rule is known for the frame below in " +
           (module != nullptr ? module->path : "code outside all modules") +
           "; a search of its stack, " + std::to_string(skipped) + " bytes up,";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }
};

}  // namespace

std::unique_ptr<Strategy> make_scan_strategy(const Architecture& /*arch*/) {
  return std::make_unique<ScanStrategy>();
}

}  // namespace whocall
