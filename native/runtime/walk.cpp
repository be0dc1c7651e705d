#include "runtime/walk.h"

#include "runtime/code_checks.h"
#include "runtime/function_code.h"
#include "runtime/machine.h"
#include "runtime/machine_rules.h"
#include "runtime/mapped_modules.h"
#include "runtime/rule_lookup.h"

namespace whocall::runtime {
namespace {

using rules::FrameRule;

constexpr std::uintptr_t kContextStep = 4096;          // bytes
constexpr std::uintptr_t kLargestChained = 64U << 20;  // bytes of a frame that nothing vouches for

// Whether a frame pointer may be one: the stack shrinks.
bool leads_on(const Point& at) {
  constexpr std::uintptr_t kAligned = sizeof(std::uintptr_t) - 1;
  return kChain.cfa != FrameRule::Cfa::none && at.fp_known && at.fp >= at.sp &&
         at.fp - at.sp <= kLargestChained && (at.fp & kAligned) == 0;
}

}  // namespace

bool CarefulWalk::is_code(std::uintptr_t address) const {
  Module module;
  return find_file(address, thorough_, module);
}

bool CarefulWalk::exact() const { return exact_ || is_signal_frame(at_.pc); }

bool CarefulWalk::is_signal_frame(std::uintptr_t address) const {
  const FrameRule rule = rule_at(address, false, thorough_);
  return rule.signal_frame || (rule.cfa == FrameRule::Cfa::none && is_trampoline(address));
}

bool CarefulWalk::next() {
  const FrameRule rule = rule_at(at_.pc, exact_, thorough_);
  if (rule.signal_frame) {
    return by_context();
  }
  if (rule.cfa != FrameRule::Cfa::none) {
    const bool is_read = kReadsFunctions && rule.by_analysis && rule.from_disk;
    return is_read ? by_code(rule) : by_rule(rule);
  }
  if (is_trampoline(at_.pc)) {
    return by_context();
  }
  const std::uintptr_t lookup = at_.pc - (exact_ ? 0 : 1);
  Module module;
  if (!find_file(lookup, thorough_, module)) {
    // Code that was made while the program ran has frame pointers, if anything.
    return is_made_code(lookup) ? by_chain() : by_call();
  }
  Point caller = at_;
  if (step_by_index(module, lookup, reader_, caller)) {
    return accept(caller, WHOCALL_CFI);
  }
  FrameRule read = module.tables.entries != 0 ? rule_ahead(module, lookup) : FrameRule{};
  if (read.cfa == FrameRule::Cfa::none) {
    read = rule_by_prologue(module, lookup);
  }
  if (read.cfa != FrameRule::Cfa::none) {
    return by_rule(read);
  }
  read = rule_by_function(module, at_, exact_, reader_);
  if (read.cfa != FrameRule::Cfa::none) {
    return by_code(read);
  }
  return may_be_chained(module, lookup) ? by_chain() : stop(WalkEnd::no_rule);
}

bool CarefulWalk::accept(const Point& caller, whocall_trust trust) {
  if (caller.pc == 0) {
    return stop(WalkEnd::outermost);
  }
  at_ = caller;
  exact_ = false;
  trust_ = trust;
  return true;
}

bool CarefulWalk::by_rule(const FrameRule& rule) {
  const auto reader = [this](std::uintptr_t address, std::uintptr_t& value) {
    return read(address, value);
  };
  if (rule.ret == FrameRule::Return::outermost) {
    return stop(WalkEnd::outermost);
  }
  Point caller = at_;
  if (!rules::step(rule, kCodeMask, reader, caller)) {
    return stop(WalkEnd::unreadable);
  }
  // Above a guess the stack pointer may be one too, and the word that the rule leads to anything.
  if (guessed_ && caller.pc != 0 && !is_code(caller.pc - 1) && !is_made_code(caller.pc - 1)) {
    return stop(WalkEnd::no_rule);
  }
  forget_others(caller);
  return accept(caller, rule.by_analysis ? WHOCALL_ANALYSIS : WHOCALL_CFI);
}

// Whether a call stands before a return address, which is as it lay on the stack; or a signal's
// trampoline at it, or nothing, where the stack ends.
bool CarefulWalk::may_be_caller(std::uintptr_t pc, std::uintptr_t return_address) {
  return pc == 0 || ((is_code(pc - 1) || is_made_code(pc - 1)) &&
                     (is_behind_call(return_address) || is_signal_frame(pc)));
}

// Nobody but instructions, read now or ahead, says where the return address lies: a call stands
// before it, or nothing is said.
bool CarefulWalk::by_code(const FrameRule& rule) {
  const auto reader = [this](std::uintptr_t address, std::uintptr_t& value) {
    return read(address, value);
  };
  const std::uintptr_t base = rule.cfa == FrameRule::Cfa::from_sp ? at_.sp : at_.fp;
  const auto offset = std::intptr_t{rule.cfa_offset} + rule.return_slot;
  std::uintptr_t kept = at_.link;
  Point caller = at_;
  if ((rule.ret == FrameRule::Return::stored &&
       !read(base + static_cast<std::uintptr_t>(offset), kept)) ||
      !rules::step(rule, kCodeMask, reader, caller)) {
    return stop(WalkEnd::unreadable);
  }
  if (!may_be_caller(caller.pc, kept)) {
    return stop(WalkEnd::no_rule);
  }
  forget_others(caller);
  return accept(caller, WHOCALL_ANALYSIS);
}

bool CarefulWalk::is_trampoline(std::uintptr_t address) {
  return kTrampolineSize != 0 && readable(address) && readable(address + kTrampolineSize - 1) &&
         runtime::is_trampoline(reinterpret_cast<const void*>(address));
}

bool CarefulWalk::by_context() {
  const std::uintptr_t begin = at_.sp + context_offset(at_.pc);
  std::uintptr_t word = 0;
  for (std::uintptr_t at = begin; at < begin + sizeof(ucontext_t); at += kContextStep) {
    if (!read(at, word)) {
      return stop(WalkEnd::unreadable);
    }
  }
  if (!read(begin + sizeof(ucontext_t) - sizeof word, word)) {
    return stop(WalkEnd::unreadable);
  }
  context_ = reinterpret_cast<const void*>(begin);
  at_ = point_of(*static_cast<const ucontext_t*>(context_));
  exact_ = true;
  trust_ = WHOCALL_CONTEXT;
  return true;
}

// A call of what is no code has left its return address, and nothing else has happened.
bool CarefulWalk::by_call() {
  if (!exact_) {
    return stop(WalkEnd::no_rule);
  }
  Point caller = at_;
  caller.link_known = false;
  if (kRegisters.link) {
    caller.pc = at_.link;
  } else if (read(at_.sp, caller.pc)) {
    caller.sp += sizeof(std::uintptr_t);
  } else {
    return stop(WalkEnd::unreadable);
  }
  return is_code(caller.pc - 1) ? accept(caller, WHOCALL_ANALYSIS) : stop(WalkEnd::no_rule);
}

bool CarefulWalk::by_chain() {
  constexpr std::int32_t kReturnAboveFp = kChain.cfa_offset + kChain.return_slot;  // bytes
  Point caller = at_;
  std::uintptr_t kept = 0;
  const auto reader = [this](std::uintptr_t address, std::uintptr_t& value) {
    return read(address, value);
  };
  if (!leads_on(at_) || !read(at_.fp + static_cast<std::uintptr_t>(kReturnAboveFp), kept) ||
      !rules::step(kChain, kCodeMask, reader, caller)) {
    return stop(WalkEnd::no_rule);
  }
  if (!may_be_caller(caller.pc, kept)) {
    return stop(WalkEnd::no_rule);
  }
  forget_others(caller);
  guessed_ = true;
  return accept(caller, WHOCALL_FRAME_POINTER);
}

// Of no file, and yet to be run.
bool CarefulWalk::is_made_code(std::uintptr_t address) {
  if (address - made_begin_ >= made_end_ - made_begin_) {
    made_begin_ = made_end_ = 0;
    return find_made_code(address, made_begin_, made_end_);
  }
  return true;
}

}  // namespace whocall::runtime
