#include "unwind/search/hidden_frame.h"

#include <algorithm>

#include "unwind/judge/judge.h"
#include "unwind/rows/apply_row.h"

namespace whocall {
namespace {

constexpr Address kLargestHiddenFrame = Address{1} << 20U;
constexpr std::uint64_t kLargestHidingFunction = 1U << 14U;

bool may_call(Address after, const Activation& callee, const WalkContext& context) {
  Activation caller;
  caller.pc = after;
  const CallMatch call = context.judge.match_call(callee, caller);
  return goes_to_callee(call) || call == CallMatch::unknown || call == CallMatch::same_module;
}

}  // namespace

std::optional<Address> end_of_own_frame(const Activation& callee, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const auto sp = callee.registers.get(arch.registers.sp);
  for (Strategy* strategy : context.exact) {
    const UnwindRow* row = strategy->find(callee, context);
    if (row == nullptr || row->signal_frame) {
      continue;
    }
    const auto applied = apply_row(*row, callee, arch, *context.process.memory);
    if (applied.failure == ApplyFailure::none && sp && applied.cfa >= *sp &&
        applied.cfa - *sp <= kLargestHiddenFrame && context.judge.same_stack(sp, applied.cfa)) {
      return applied.cfa;
    }
  }
  return std::nullopt;
}

// Folklore. Situation: two return addresses were overwritten in one stack, far apart; behind each
// the search meets leftovers, and the next intact frames too. Example: an overflow of a buffer in
// each of two recursions. Remedy: the call before a true word tells which function's frame lies
// below it, the lost one, and that frame has to fit exactly between the two.
bool has_frame_of(Address called, std::uint64_t size, const Activation& callee,
                  const WalkContext& context) {
  const auto function = context.code.function_at(called);
  if (!function || function->begin != called || function->size() > kLargestHidingFunction) {
    return false;
  }
  const AnalysedFunction* analysed = context.analyser.rows_of(*function);
  if (analysed == nullptr) {
    return false;
  }
  const Register sp = context.process.arch->registers.sp;
  return std::ranges::any_of(analysed->rows, [&](const UnwindRow& row) {
    return row.cfa.kind == CfaRule::Kind::register_offset && row.cfa.base == sp &&
           static_cast<std::uint64_t>(row.cfa.offset) == size &&
           may_call(row.range.end, callee, context);
  });
}

}  // namespace whocall
