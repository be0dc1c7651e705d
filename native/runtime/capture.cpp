// The quick walk, that reads the stack of a running thread as it is: bare addresses.
#include "runtime/machine.h"
#include "runtime/machine_rules.h"
#include "runtime/rule_lookup.h"
#include "runtime/walk.h"
#include "runtime/whocall.h"

namespace whocall::runtime {
namespace {

using rules::FramePoint;
using rules::FrameRule;

std::uintptr_t word(std::uintptr_t address) {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

// As far as walks came by here before, and the frames are as nearly all frames are: a dozen loads
// and sums for each. Ends before what is unusual, or behind the outermost frame, its pc being 0.
[[gnu::always_inline]] inline void** follow_known(FramePoint& from, void** addresses,
                                                  void* const* end) {
  RuleCache& known = known_rules();
  RuleCache::Entry* last = known.nobody();
  // Words of their own, and in the end written one by one: a processor that copies them as a whole
  // has to wait until each of their parts is in memory.
  FramePoint at{.pc = from.pc, .sp = from.sp, .fp = from.fp};
  while (addresses != end) {
    last = known.find_behind(last, at.pc);
    rules::ShortRule rule{.kind = last->rule.kind};
    if (!rule.is_chained()) {  // most are, and of them no more is needed
      rule = last->rule;
    }
    if (!RuleCache::is_still(*last, at.pc)) [[unlikely]] {
      break;
    }
    if (!rules::plain_step(rule, kCodeMask, word, at)) [[unlikely]] {
      at.pc = rule.is_outermost() ? 0 : at.pc;
      break;
    }
    if (at.pc <= RuleCache::kWritten) [[unlikely]] {
      break;
    }
    *addresses++ = reinterpret_cast<void*>(at.pc);
  }
  from.pc = at.pc;
  from.sp = at.sp;
  from.fp = at.fp;
  return addresses;
}

// By whatever rule a loaded file has; the pc is 0 where the stack ended. Not by one that was read
// from disk: a damaged file tells of words that no stack has.
[[gnu::noinline]] bool follow_unusual(FramePoint& from) {
  const auto read = [](std::uintptr_t address, std::uintptr_t& value) {
    value = word(address);
    return true;
  };
  const FrameRule rule = rule_at(from.pc, false, false);
  if (rule.cfa == FrameRule::Cfa::none || rule.from_disk) {
    return false;
  }
  from.pc = rules::step(rule, kCodeMask, read, from) ? from.pc : 0;
  return true;
}

// From the first frame on that no loaded file has a rule for, with care: what stands above a rule
// from disk rests on it.
[[gnu::noinline]] std::size_t follow_carefully(Point& from, void** addresses, std::size_t count) {
  CarefulWalk rest(from, false);
  std::size_t found = 0;
  while (found < count && rest.next()) {
    addresses[found++] = reinterpret_cast<void*>(rest.address());
  }
  return found;
}

[[gnu::always_inline]] inline std::size_t capture(Point from, void** addresses, std::size_t count) {
  void** at = addresses;
  void* const* const end = addresses + count;
  const auto found = [&] { return static_cast<std::size_t>(at - addresses); };
  for (;;) {
    at = from.fp_known ? follow_known(from, at, end) : at;
    if (at == end || from.pc == 0) {
      return found();
    }
    if (!follow_unusual(from)) {
      if (at != addresses) {
        forget_others(from);
      }
      return found() + follow_carefully(from, at, count - found());
    }
    if (from.pc == 0) {
      return found();
    }
    *at++ = reinterpret_cast<void*>(from.pc);
  }
}

}  // namespace
}  // namespace whocall::runtime

extern "C" std::size_t whocall_capture(void** addresses, std::size_t count) {
  return whocall::runtime::capture(whocall::runtime::here(), addresses, count);
}
