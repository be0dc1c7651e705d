// Searching the stack for the caller when no rule is known: the last resort.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "unwind/judge/sentences.h"
#include "unwind/rows/expression_writer.h"
#include "unwind/search/damaged_return.h"
#include "unwind/search/stack_search.h"
#include "unwind/search/standing_frame.h"
#include "unwind/strategies/strategies.h"

namespace whocall {
namespace {

class ScanStrategy final : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const override { return "scan"; }
  [[nodiscard]] Trust trust() const override { return Trust::scan; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const auto damaged = find_damaged_return(callee, context);
    if (damaged && damaged->pc) {
      return context.keep(
          with_return_address(damaged->row, *damaged->pc, context.process.arch->abi.endian));
    }
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
    if (saved != nullptr && saved->kind == RegisterRule::Kind::value_expression) {
      return "the return address of the frame below was overwritten in part; of the calls near what"
             " is left of it the only one that may have gone there";
    }
    const std::int64_t skipped = row.cfa.offset + (saved != nullptr ? saved->offset : 0);
    return why_no_table(callee, context) + ", in " +
           (module != nullptr ? module->path : "code outside all modules") +
           "; a search of its stack, " + std::to_string(skipped) + " bytes up,";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  UnwindRow with_return_address(UnwindRow row, Address pc, Endian endian) {
    auto [known, fresh] = constants_.try_emplace(pc);
    if (fresh) {
      ExpressionWriter writer(arena_, endian);
      writer.constant(static_cast<std::int64_t>(pc));
      known->second = writer.view();
    }
    const auto rule = std::ranges::find(row.rules, row.return_address, &NamedRule::number);
    rule->rule = RegisterRule::computed(known->second);
    return row;
  }

  std::deque<std::vector<std::byte>> arena_;
  std::unordered_map<Address, ByteView> constants_;  // by the address that they compute
};

}  // namespace

std::unique_ptr<Strategy> make_scan_strategy(const Architecture& /*arch*/) {
  return std::make_unique<ScanStrategy>();
}

}  // namespace whocall
