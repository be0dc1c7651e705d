#include "unwind/walk/quick_walk.h"

#include <bit>
#include <string_view>

#include "unwind/judge/sentences.h"

namespace whocall {

namespace {

constexpr EvidenceSet kEveryStep = EvidenceSet().with(Evidence::call_before).with(Evidence::cfa_up);

}  // namespace

QuickWalk::QuickWalk(const ProcessImage& process, const StepFacts& facts, bool searches,
                     std::vector<Frame>& frames)
    : process_(process),
      facts_(facts),
      searches_(searches),
      word_mask_(process.arch->registers.size - 1U),
      frames_(frames) {}

void QuickWalk::begin(const Activation& activation, bool planted) {
  const Architecture& arch = *process_.arch;
  start_ = &activation;
  first_ = frames_.size();
  planted_ = planted;
  const auto sp = activation.registers.get(arch.registers.sp);
  here_ = {.pc = activation.pc, .sp = sp.value_or(0)};
  const auto fp = activation.registers.get(facts_.frame_pointer());
  here_.fp = fp.value_or(0);
  here_.fp_known = fp.has_value();
}

const StepFact* QuickWalk::fact(bool tables_only) const {
  const StepFact* const known = planted_ && at_start() ? nullptr : facts_.at(point());
  return known != nullptr && (known->trust <= Trust::cfi || !tables_only) ? known : nullptr;
}

bool QuickWalk::go_on(bool tables_only, std::size_t most) {
  std::size_t left = most;
  while (left != 0 && step(tables_only)) {
    --left;
  }
  return left == 0;
}

// What the judge and the strategy that found the rule would look at once more is compared here:
// that the stack pointer moves up within its stack, where the call before the return address goes,
// whether the frame pointer agrees.
inline bool QuickWalk::step(bool tables_only) {
  const StepFact* const fact = this->fact(tables_only);
  if (fact == nullptr || fact->kind != StepFact::Kind::step || !enter_stack()) {
    return false;
  }
  rules::StackPoint caller = here_;
  Address cfa = 0;
  if (!rules::step(fact->rule, facts_.layout(), span_, caller, cfa) || !stays_on_stack(caller.sp)) {
    return false;
  }
  const CallMatch call = facts_.call(*fact, caller.pc);
  const bool chain = fact->trust == Trust::frame_pointer;
  if (call == CallMatch::no_call || (chain && !chain_goes_on(call))) {
    return false;
  }
  const auto framed = chain_agrees(fact->rule, cfa, caller);
  if (!framed) {
    return false;
  }
  EvidenceSet evidence = kEveryStep;
  evidence = goes_to_callee(call) ? evidence.with(Evidence::call_target) : evidence;
  evidence = *framed ? evidence.with(Evidence::frame_pointer) : evidence;
  frames_.back().cfa = cfa;
  frames_.push_back({.pc = caller.pc, .sp = caller.sp, .trust = fact->trust, .evidence = evidence});
  here_ = caller;
  return true;
}

// A frame pointer's place tells by itself; a record leads to the caller's, which lies where the
// caller's stack begins in most of AArch64's functions.
inline std::optional<bool> QuickWalk::chain_agrees(const rules::CompactRule& rule, Address cfa,
                                                   const rules::StackPoint& caller) const {
  const auto& chain = process_.arch->frame.chain;
  if (!chain || !here_.fp_known) {
    return false;
  }
  if (chain->kind == FrameChain::Kind::frame_pointer) {
    if (here_.fp + static_cast<Address>(chain->cfa_offset) != cfa) {
      return false;
    }
    const bool same = rule.return_slot == chain->return_address_offset - chain->cfa_offset;
    return same ? std::optional(true) : std::nullopt;
  }
  if (word_at(here_.fp + static_cast<Address>(chain->link_offset)) != cfa) {
    return false;
  }
  const auto back = word_at(here_.fp + static_cast<Address>(chain->return_address_offset));
  return back && (*back & facts_.layout().code_mask) == caller.pc;
}

std::optional<Address> QuickWalk::word_at(Address address) const {
  const unsigned size = facts_.layout().word_size;
  if (span_.size >= size && address - span_.begin <= span_.size - size) {
    return span_.word(address, size);
  }
  return process_.memory->read_unsigned(address, size, process_.arch->abi.endian);
}

bool QuickWalk::ends_here(bool tables_only, Stop& stop) {
  const StepFact* const fact = this->fact(tables_only);
  if (fact == nullptr) {
    return false;
  }
  Address cfa = 0;
  bool ends = false;
  std::string_view why = kZeroReturnAddress;
  if (fact->kind == StepFact::Kind::step) {
    rules::StackPoint caller = here_;
    ends = fact->trust == Trust::cfi && enter_stack() &&
           rules::step(fact->rule, facts_.layout(), span_, caller, cfa) && caller.pc == 0 &&
           stays_on_stack(caller.sp);
  } else {
    const bool row = fact->kind == StepFact::Kind::end_row;
    ends = !row || rules::find_cfa(fact->rule, here_, cfa);
    why = facts_.why(*fact);
  }
  if (ends) {
    frames_.back().cfa = cfa & facts_.layout().address_mask;
    stop = {StopReason::end_of_stack, std::string(why)};
  }
  return ends;
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
  return to > here_.sp && (to & word_mask_) == 0 &&
         stack_.contains(to - process_.arch->abi.pointer_size);
}

// As the frame-pointer strategy asks. Where it would search for a nearer caller, it is to do so.
bool QuickWalk::chain_goes_on(CallMatch call) const {
  return (here_.fp & word_mask_) == 0 && stack_.contains(here_.fp) && here_.fp >= here_.sp &&
         (!searches_ || goes_to_callee(call));
}

Activation QuickWalk::activation() const {
  if (at_start()) {
    return *start_;
  }
  const RegisterFile& all = process_.arch->registers;
  Activation found;
  found.pc = here_.pc;
  found.registers.set(all.sp, here_.sp);
  found.registers.set(all.pc, here_.pc);
  restore_saved(found.registers);
  restore_mode(found.registers);
  const auto thread =
      all.thread_pointer ? start_->registers.get(*all.thread_pointer) : std::nullopt;
  if (thread) {
    found.registers.set(*all.thread_pointer, *thread);
  }
  return found;
}

// Which the return address tells that led to the last frame.
void QuickWalk::restore_mode(Registers& registers) const {
  const auto& mode = process_.arch->registers.mode;
  if (!mode) {
    return;
  }
  const std::size_t last = frames_.size() - 1;
  const Frame& callee = frames_[last - 1];
  const StepFact* const fact = facts_.at({callee.pc, start_->interrupted && last == first_});
  const auto back =
      word_at(callee.cfa + static_cast<Address>(std::int64_t{fact->rule.return_slot})).value_or(0);
  const std::uint64_t status = start_->registers.get(mode->status).value_or(mode->usual);
  registers.set(mode->status, (status & ~mode->bit) | ((back & 1U) != 0 ? mode->bit : 0));
}

// The last step that changed a register decides.
void QuickWalk::restore_saved(Registers& registers) const {
  const RegisterFile& all = process_.arch->registers;
  unsigned open = (1U << all.callee_saved.size()) - 1;  // bits of those nothing is known of yet
  for (std::size_t i = frames_.size() - 1; i >= first_ && open != 0; --i) {
    const Frame& frame = frames_[i - 1];
    const rules::CompactRule& rule =
        facts_.at({frame.pc, start_->interrupted && i == first_})->rule;
    for (unsigned saved = rule.saved & open; saved != 0; saved &= saved - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(saved));
      const auto slot = frame.cfa + static_cast<Address>(std::int64_t{rule.slots.at(index)});
      if (const auto value =
              process_.memory->read_unsigned(slot, all.size, process_.arch->abi.endian)) {
        registers.set(all.callee_saved[index], *value);
      }
    }
    open &= ~static_cast<unsigned>(rule.saved | rule.lost);
  }
  for (; open != 0; open &= open - 1) {
    const Register number = all.callee_saved[static_cast<unsigned>(std::countr_zero(open))];
    if (const auto value = start_->registers.get(number)) {
      registers.set(number, *value);
    }
  }
}

}  // namespace whocall
