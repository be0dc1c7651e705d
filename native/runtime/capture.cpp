// The quick walk: bare addresses.
#include "runtime/found_rules.h"
#include "runtime/machine.h"
#include "runtime/walk.h"

namespace whocall::runtime {
namespace {

using rules::FramePoint;
using rules::FrameRule;

std::uintptr_t word(std::uintptr_t address) {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

// As far as walks came by here before, and the frames are as nearly all frames are: a dozen loads
// and sums for each. Ends before what is unusual, or behind the outermost frame, its pc being 0.
[[gnu::noinline]] std::size_t follow_known(FramePoint& from, void** addresses, std::size_t count) {
  RuleCache& known = known_rules();
  FramePoint at = from;
  std::size_t found = 0;
  count = at.fp_known ? count : 0;
  std::uint32_t last = RuleCache::kNone;
  while (found < count) {
    last = known.find_behind(last, at.pc);
    const rules::ShortRule& rule = known.entry(last).rule;
    if (!rule.is_plain() || !rules::plain_step(rule, kCodeMask, word, at) || at.pc == 0) {
      break;
    }
    addresses[found++] = reinterpret_cast<void*>(at.pc);
  }
  from = at;
  return found;
}

std::size_t follow_rules(FramePoint& from, void** addresses, std::size_t count, bool& ended) {
  const auto read = [](std::uintptr_t address, std::uintptr_t& value) {
    value = word(address);
    return true;
  };
  std::size_t found = 0;
  ended = true;
  for (;;) {
    found += follow_known(from, addresses + found, count - found);
    if (found == count || from.pc == 0) {
      return found;
    }
    const FrameRule rule = rule_at(from.pc, false, false);
    if (rule.cfa == FrameRule::Cfa::none) {
      ended = false;
      return found;
    }
    if (!rules::step(rule, kCodeMask, read, from) || from.pc == 0) {
      return found;
    }
    addresses[found++] = reinterpret_cast<void*>(from.pc);
  }
}

}  // namespace

std::size_t capture(Point from, void** addresses, std::size_t count) {
  bool ended = false;
  std::size_t found = follow_rules(from, addresses, count, ended);
  // From the first frame without a table on, with care.
  if (!ended) {
    CarefulWalk rest(from, false);
    while (found < count && rest.next()) {
      addresses[found++] = reinterpret_cast<void*>(rest.address());
    }
  }
  return found;
}

}  // namespace whocall::runtime
