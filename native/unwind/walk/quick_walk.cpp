#include "unwind/walk/quick_walk.h"

namespace whocall {

void QuickWalk::begin(const Activation& activation) {
  const Architecture& arch = *process_.arch;
  start_ = activation;
  trail_.clear();
  const auto sp = activation.registers.get(arch.registers.sp);
  here_ = {.pc = activation.pc, .sp = sp.value_or(0)};
  if (arch.frame.chain) {
    const auto fp = activation.registers.get(arch.frame.chain->base);
    here_.fp = fp.value_or(0);
    here_.fp_known = fp.has_value();
  }
}

// What the judge and the strategy that found the rule would look at once more is compared here:
// that the stack pointer moves up within its stack, where the call before the return address goes,
// whether the frame pointer agrees.
bool QuickWalk::step(bool tables_only) {
  const bool interrupted = trail_.empty() && start_.interrupted;
  const StepFact* const fact = interrupted ? nullptr : facts_.at(here_.pc);
  if (fact == nullptr || (fact->trust > Trust::cfi && tables_only) || !enter_stack()) {
    return false;
  }
  rules::StackPoint caller = here_;
  Address cfa = 0;
  if (!rules::step(fact->rule, facts_.layout(), span_, caller, cfa) || !stays_on_stack(caller.sp)) {
    return false;
  }
  const CallMatch call = facts_.call(here_.pc, caller.pc);
  const bool chain = fact->trust == Trust::frame_pointer;
  if (call == CallMatch::no_call || (chain && !chain_goes_on(call))) {
    return false;
  }
  const FrameChain& links = *process_.arch->frame.chain;
  const bool framed = here_.fp_known && here_.fp + static_cast<Address>(links.cfa_offset) == cfa;
  if (framed && fact->rule.return_slot != links.return_address_offset - links.cfa_offset) {
    return false;
  }
  frames_.back().cfa = cfa;
  Frame& frame = frames_.emplace_back();
  frame.pc = caller.pc;
  frame.lookup_pc = caller.pc - 1;
  frame.sp = caller.sp;
  frame.trust = fact->trust;
  frame.strategy = fact->strategy;
  frame.evidence.add(Evidence::call_before);
  frame.evidence.add(Evidence::cfa_up);
  if (goes_to_callee(call)) {
    frame.evidence.add(Evidence::call_target);
  }
  if (framed) {
    frame.evidence.add(Evidence::frame_pointer);
  }
  trail_.push_back(fact);
  here_ = caller;
  return true;
}

// Whether the stack that the present frame lies on is at hand.
bool QuickWalk::enter_stack() {
  if (!stack_.contains(here_.sp)) {
    const Mapping* const mapping = process_.mapping_at(here_.sp);
    if (mapping == nullptr) {
      return false;
    }
    stack_ = mapping->range;
    span_ = {};
  }
  if (here_.sp - span_.begin >= span_.size) {
    const auto run = process_.memory->run_at(here_.sp);
    span_ = {run.data(), here_.sp, run.size()};
  }
  return span_.size != 0;
}

bool QuickWalk::stays_on_stack(Address to) const {
  return to > here_.sp && to % process_.arch->registers.size == 0 &&
         stack_.contains(to - process_.arch->abi.pointer_size);
}

// As the frame-pointer strategy asks. Where it would search for a nearer caller, it is to do so.
bool QuickWalk::chain_goes_on(CallMatch call) const {
  return here_.fp % process_.arch->registers.size == 0 && stack_.contains(here_.fp) &&
         here_.fp >= here_.sp && (!searches_ || goes_to_callee(call));
}

Activation QuickWalk::activation() const {
  if (trail_.empty()) {
    return start_;
  }
  const RegisterFile& all = process_.arch->registers;
  Activation found;
  found.pc = here_.pc;
  found.registers.set(all.sp, here_.sp);
  found.registers.set(all.pc, here_.pc);
  for (unsigned i = 0; i < all.callee_saved.size(); ++i) {
    if (const auto value = saved_on_the_way(i)) {
      found.registers.set(all.callee_saved[i], *value);
    }
  }
  const auto thread = all.thread_pointer ? start_.registers.get(*all.thread_pointer) : std::nullopt;
  if (thread) {
    found.registers.set(*all.thread_pointer, *thread);
  }
  return found;
}

// The last step that changed it decides.
std::optional<std::uint64_t> QuickWalk::saved_on_the_way(unsigned index) const {
  const unsigned bit = 1U << index;
  for (std::size_t i = trail_.size(); i > 0; --i) {
    const rules::CompactRule& rule = trail_[i - 1]->rule;
    if (((rule.saved | rule.lost) & bit) == 0) {
      continue;
    }
    const Address cfa = frames_[frames_.size() - 1 - trail_.size() + i - 1].cfa;
    const auto slot = cfa + static_cast<Address>(std::int64_t{rule.slots.at(index)});
    return (rule.lost & bit) != 0
               ? std::nullopt
               : process_.memory->read_unsigned(slot, process_.arch->registers.size,
                                                process_.arch->abi.endian);
  }
  return start_.registers.get(process_.arch->registers.callee_saved[index]);
}

}  // namespace whocall
