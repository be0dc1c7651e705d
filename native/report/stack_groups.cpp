#include "report/stack_groups.h"

#include <algorithm>
#include <unordered_map>

namespace whocall {
namespace {

constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

std::uint64_t hash_of(const ThreadTrace& trace) {
  std::uint64_t hash = trace.shown.count;
  for (std::size_t i = 0; i < trace.shown.count; ++i) {
    hash = (hash ^ trace.frame(i).frame().pc) * kMixer;
  }
  return hash ^ hash >> 32U;
}

bool same_line(const FrameFacts& one, const FrameFacts& other) {
  const NamedFrame& left = one.named();
  const NamedFrame& right = other.named();
  const bool same_place = left.place == right.place && left.call == right.call;
  return one.frame().pc == other.frame().pc && one.frame().trust == other.frame().trust &&
         one.frame().signal_trampoline == other.frame().signal_trampoline &&
         one.rests_on() == other.rests_on() && one.searched() == other.searched() &&
         left.inlined() == right.inlined() &&
         (same_place || (left.function() == right.function() && left.line() == right.line()));
}

bool same_stack(const ThreadTrace& one, const ThreadTrace& other) {
  if (one.shown.count != other.shown.count || one.stop.reason != other.stop.reason) {
    return false;
  }
  for (std::size_t i = 0; i < one.shown.count; ++i) {
    if (!same_line(one.frame(i), other.frame(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::vector<std::size_t>> group_stacks(std::span<const ThreadTrace> traces, bool fold) {
  std::vector<std::vector<std::size_t>> groups;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!fold || traces[i].head.crashed) {
      groups.push_back({i});
      continue;
    }
    const std::uint64_t hash = hash_of(traces[i]);
    const auto [begin, end] = by_hash.equal_range(hash);
    const auto known = std::find_if(begin, end, [&](const auto& group) {
      return same_stack(traces[groups[group.second].front()], traces[i]);
    });
    if (known != end) {
      groups[known->second].push_back(i);
    } else {
      by_hash.emplace(hash, groups.size());
      groups.push_back({i});
    }
  }
  return groups;
}

}  // namespace whocall
