#include "runtime/walk.h"

#include <cstring>

#include "rules/cfi_rule.h"
#include "runtime/machine.h"
#include "runtime/mapped_modules.h"
#include "runtime/modules.h"
#include "runtime/rule_cache.h"

namespace whocall::runtime {
namespace {

using rules::FramePoint;
using rules::FrameRule;

RuleCache cache;

constexpr std::uintptr_t kPage = 4096;                 // bytes
constexpr std::uintptr_t kLargestChained = 64U << 20;  // bytes of a frame that nothing vouches for

bool find(std::uintptr_t address, bool thorough, Module& module) {
  return find_module(address, module) || (thorough && find_mapped_module(address, module));
}

// The rule for the code at `lookup`, a byte of the call before where a call returns to `lookup +
// 1`.
FrameRule found_rule(std::uintptr_t lookup, bool thorough) {
  Module module;
  rules::FrameDescription description;
  if (!find(lookup, thorough, module) || module.tables.header == 0 ||
      !rules::find_description(module.tables, lookup, description)) {
    return {};
  }
  return rules::rule_at(description, kRegisters, lookup);
}

FrameRule rule_at(std::uintptr_t address, bool exact, bool thorough) {
  if (exact) {
    return found_rule(address, thorough);
  }
  if (const std::uint32_t known = cache.find(address)) {
    return rules::lengthened(cache.entry(known).rule);
  }
  const FrameRule rule = found_rule(address - 1, thorough);
  rules::ShortRule kept;
  if ((rule.cfa != FrameRule::Cfa::none || rule.signal_frame) && rules::shortened(rule, kept)) {
    cache.put(address, kept);
  }
  return rule;
}

// What a frame pointer leads to, where it is one: the stack shrinks.
bool chain_rule(const FramePoint& at, FrameRule& rule) {
  constexpr std::uintptr_t kAligned = sizeof(std::uintptr_t) - 1;
  if (kChainFrame == 0 || !at.fp_known || at.fp < at.sp || at.fp - at.sp > kLargestChained ||
      (at.fp & kAligned) != 0) {
    return false;
  }
  constexpr auto kWord = static_cast<std::int32_t>(sizeof(std::uintptr_t));
  rule = {.cfa = FrameRule::Cfa::from_fp,
          .ret = FrameRule::Return::stored,
          .fp = FrameRule::Fp::stored,
          .cfa_offset = kChainFrame,
          .return_slot = kWord - kChainFrame,
          .fp_slot = -kChainFrame};
  return true;
}

std::uintptr_t word(std::uintptr_t address) {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

// As far as walks came by here before, and the frames are as nearly all frames are: a dozen loads
// and sums for each. Ends before what is unusual, or behind the outermost frame, its pc being 0.
[[gnu::noinline]] std::size_t follow_known(FramePoint& from, void** addresses, std::size_t count) {
  FramePoint at = from;
  std::size_t found = 0;
  count = at.fp_known ? count : 0;
  std::uint32_t last = RuleCache::kNone;
  while (found < count) {
    last = cache.find_behind(last, at.pc);
    const rules::ShortRule& rule = cache.entry(last).rule;
    if (!rule.is_plain() || !rules::plain_step(rule, kCodeMask, word, at) || at.pc == 0) {
      break;
    }
    addresses[found++] = reinterpret_cast<void*>(at.pc);
  }
  from = at;
  return found;
}

bool is_code(std::uintptr_t address, bool thorough) {
  Module module;
  return find(address, thorough, module);
}

}  // namespace

std::size_t capture(FramePoint from, void** addresses, std::size_t count) {
  const auto read = [](std::uintptr_t address, std::uintptr_t& value) {
    value = word(address);
    return true;
  };
  std::size_t found = 0;
  for (;;) {
    found += follow_known(from, addresses + found, count - found);
    if (found == count || from.pc == 0) {
      return found;
    }
    const FrameRule rule = rule_at(from.pc, false, false);
    if (rule.cfa == FrameRule::Cfa::none) {
      break;
    }
    if (!rules::step(rule, kCodeMask, read, from) || from.pc == 0) {
      return found;
    }
    addresses[found++] = reinterpret_cast<void*>(from.pc);
  }
  // From the first frame without a table on, with care.
  CarefulWalk rest(from, false);
  while (found < count && rest.next()) {
    addresses[found++] = reinterpret_cast<void*>(rest.address());
  }
  return found;
}

bool CarefulWalk::exact() const { return exact_ || rule_at(at_.pc, false, thorough_).signal_frame; }

bool CarefulWalk::next() {
  const FrameRule rule = rule_at(at_.pc, exact_, thorough_);
  if (rule.signal_frame) {
    return by_context();
  }
  if (rule.cfa == FrameRule::Cfa::none) {
    if (is_code(at_.pc - (exact_ ? 0 : 1), thorough_)) {
      return by_chain();
    }
    return is_trampoline(at_.pc) ? by_context() : by_call();
  }
  return by_rule(rule);
}

bool CarefulWalk::by_rule(const FrameRule& rule) {
  const auto reader = [this](std::uintptr_t address, std::uintptr_t& value) {
    return read(address, value);
  };
  if (rule.ret == FrameRule::Return::outermost) {
    return stop(WalkEnd::outermost);
  }
  FramePoint caller = at_;
  if (!rules::step(rule, kCodeMask, reader, caller)) {
    return stop(WalkEnd::unreadable);
  }
  if (caller.pc == 0) {
    return stop(WalkEnd::outermost);
  }
  at_ = caller;
  exact_ = false;
  trust_ = WHOCALL_CFI;
  return true;
}

bool CarefulWalk::is_trampoline(std::uintptr_t address) {
  std::uintptr_t word = 0;
  return !kTrampoline.empty() && read(address, word) &&
         std::memcmp(reinterpret_cast<const void*>(address), kTrampoline.data(),
                     kTrampoline.size()) == 0;
}

bool CarefulWalk::by_context() {
  const std::uintptr_t begin = at_.sp + context_offset(at_.pc);
  std::uintptr_t word = 0;
  for (std::uintptr_t at = begin; at < begin + sizeof(ucontext_t); at += kPage) {
    if (!read(at, word)) {
      return stop(WalkEnd::unreadable);
    }
  }
  if (!read(begin + sizeof(ucontext_t) - sizeof word, word)) {
    return stop(WalkEnd::unreadable);
  }
  at_ = point_of(*reinterpret_cast<const ucontext_t*>(begin));
  exact_ = true;
  trust_ = WHOCALL_CONTEXT;
  return true;
}

// A call of what is no code has left its return address, and nothing else has happened.
bool CarefulWalk::by_call() {
  if (!exact_) {
    return stop(WalkEnd::no_rule);
  }
  FramePoint caller = at_;
  caller.link_known = false;
  if (kRegisters.link) {
    caller.pc = at_.link;
  } else if (read(at_.sp, caller.pc)) {
    caller.sp += sizeof(std::uintptr_t);
  } else {
    return stop(WalkEnd::unreadable);
  }
  if (!is_code(caller.pc - 1, thorough_)) {
    return stop(WalkEnd::no_rule);
  }
  at_ = caller;
  exact_ = false;
  trust_ = WHOCALL_ANALYSIS;
  return true;
}

bool CarefulWalk::by_chain() {
  FrameRule rule;
  FramePoint caller = at_;
  const auto reader = [this](std::uintptr_t address, std::uintptr_t& value) {
    return read(address, value);
  };
  if (!chain_rule(at_, rule) || !rules::step(rule, kCodeMask, reader, caller) ||
      !is_code(caller.pc - 1, thorough_)) {
    return stop(WalkEnd::no_rule);
  }
  at_ = caller;
  exact_ = false;
  trust_ = WHOCALL_FRAME_POINTER;
  return true;
}

void forget_rules() { cache.clear(); }

}  // namespace whocall::runtime
