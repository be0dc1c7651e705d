#include "unwind/walk/return_slot.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr Address kPrologue = 128;  // bytes in which a function saves its return address

std::optional<std::int64_t> find_rule(Address function, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  Activation at;
  at.interrupted = true;
  for (Address pc = function; pc < function + kPrologue; pc += arch.code.alignment) {
    at.pc = pc;
    for (Strategy* strategy : context.exact) {
      const UnwindRow* row = strategy->find(at, context);
      const auto rule = row != nullptr ? row->rule_for(row->return_address) : nullptr;
      if (rule != nullptr && rule->kind == RegisterRule::Kind::at_cfa && !row->signal_frame) {
        return -rule->offset;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

// Folklore. Situation: a return address was overwritten, and what a search finds next is where
// another function keeps its own; how large that one's frame is nobody tells, so that its caller's
// frame cannot be found by rules either, and each frame farther up is searched for as well.
// Example: stp x19,x20,[sp,#-96]!; str x30,[sp,#32] of AArch64 without frame pointers. Remedy: the
// call before a return address tells which function saved it; where the rules for that function say
// the address is kept, the word was found, and from there to the frame's end it is always as far.
std::optional<std::int64_t> cfa_above_saved_return(Address function, const WalkContext& context) {
  if (context.process.arch->frame.pushed_by_call != 0) {
    return std::nullopt;
  }
  const auto [known, fresh] = context.notes.cfas_above_saved_return.try_emplace(function);
  if (fresh) {
    known->second = find_rule(function, context);
  }
  return known->second;
}

}  // namespace whocall
