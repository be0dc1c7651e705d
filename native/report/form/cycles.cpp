#include "report/form/cycles.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "report/form/numbers.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestCycle = 16;  // frames
constexpr std::size_t kFewestFrames = 24;  // of a run
constexpr std::size_t kFewestCycles = 3;

// The run that begins at `begin`, as what of it to leave out; the shortest period that makes one.
// Its period is 0 where there is none.
Gap run_from(std::span<const std::uint32_t> frames, std::size_t begin) {
  for (std::size_t period = 1; period <= kLongestCycle; ++period) {
    std::size_t end = begin + period;
    while (end < frames.size() && frames[end] == frames[end - period]) {
      ++end;
    }
    if (end - begin >= std::max(kFewestFrames, kFewestCycles * period)) {
      return {begin, end, period};
    }
  }
  return {};
}

struct Look {
  std::string_view function;
  Address pc;  // of frames without a function
  std::string_view module;
  bool inlined;
  bool signal_trampoline;
  Trust trust;

  bool operator==(const Look&) const = default;
};

Look look_of(const FrameFacts& facts) {
  const NamedFrame& named = facts.named();
  const Frame& frame = facts.frame();
  return {.function = named.function(),
          .pc = named.function().empty() ? frame.pc : 0,
          .module = facts.module(),
          .inlined = named.inlined(),
          .signal_trampoline = frame.signal_trampoline,
          .trust = frame.trust};
}

// What a run has for certain: any of its frames reads as one a cycle away does. Of one in so many
// frames that no run passes between them, most stacks answer at once.
bool may_repeat(const NamedWalk& walk, const FrameRange& range) {
  for (std::size_t at = kFewestFrames - 1; at < range.count; at += kFewestFrames) {
    const Look look = look_of({walk, range.at(at)});
    const std::size_t end = std::min(range.count, at + kLongestCycle + 1);
    for (std::size_t other = at - kLongestCycle; other < end; ++other) {
      if (other != at && look_of({walk, range.at(other)}) == look) {
        return true;
      }
    }
  }
  return false;
}

// Frames with one spot have one look.
struct Spot {
  const Place* place;
  std::uint32_t call;
  bool signal_trampoline;
  Trust trust;
  Address pc;

  bool operator==(const Spot&) const = default;
};

Spot spot_of(const FrameFacts& facts) {
  const NamedFrame& named = facts.named();
  const Frame& frame = facts.frame();
  return {named.place, named.call, frame.signal_trampoline, frame.trust, frame.pc};
}

struct SpotHash {
  std::size_t operator()(const Spot& spot) const {
    return std::hash<const Place*>()(spot.place) * 31 + spot.call;
  }
};

struct LookHash {
  std::size_t operator()(const Look& look) const {
    return std::hash<std::string_view>()(look.function) * 31 + std::hash<Address>()(look.pc);
  }
};

// Numbers equal values alike, in the order in which they come, at most as many as there is room
// for.
template <typename Value, typename Hash>
class Numbering {
 public:
  explicit Numbering(std::size_t room) : places_(std::bit_ceil(room * 2)) {}

  // The number, and whether the value is a new one.
  std::pair<std::uint32_t, bool> number(const Value& value) {
    std::size_t at = Hash()(value) * kMixer >> 32U;
    while (true) {
      std::uint32_t& place = places_[at & (places_.size() - 1)];
      if (place == 0) {
        values_.push_back(value);
        place = static_cast<std::uint32_t>(values_.size());
        return {place - 1, true};
      }
      if (values_[place - 1] == value) {
        return {place - 1, false};
      }
      ++at;
    }
  }

 private:
  static constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  std::vector<std::uint32_t> places_;  // by a hash: one more than the number; 0 where none is
  std::vector<Value> values_;
};

}  // namespace

std::vector<Gap> find_gaps(std::span<const std::uint32_t> frames) {
  std::vector<Gap> gaps;
  std::size_t at = 0;
  while (at + kFewestFrames <= frames.size()) {
    const Gap run = run_from(frames, at);
    if (run.period == 0) {
      ++at;
      continue;
    }
    const std::size_t begin = at + run.period;
    const std::size_t over = (run.end - begin) % run.period;
    gaps.push_back({begin, run.end - (over != 0 ? over : run.period), run.period});
    at = run.end;
  }
  return gaps;
}

std::vector<Gap> find_gaps(const NamedWalk& walk, const FrameRange& range) {
  if (!may_repeat(walk, range)) {
    return {};
  }
  Numbering<Spot, SpotHash> spots(range.count);  // most places of a long chain come again
  Numbering<Look, LookHash> looks(range.count);
  std::vector<std::uint32_t> look_of_spot;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(range.count);
  for (std::size_t i = 0; i < range.count; ++i) {
    const FrameFacts facts(walk, range.at(i));
    const auto [spot, is_new] = spots.number(spot_of(facts));
    if (is_new) {
      look_of_spot.push_back(looks.number(look_of(facts)).first);
    }
    numbers.push_back(look_of_spot[spot]);
  }
  return find_gaps(numbers);
}

std::string gap_line(const Gap& gap) {
  const std::size_t count = gap.end - gap.begin;
  const std::size_t times = count / gap.period;
  const std::string above =
      gap.period == 1 ? "frame above" : std::to_string(gap.period) + " frames above";
  return "... " + with_commas(count) + " frames: the " + above + " repeated " +
         (times == 1 ? "once" : with_commas(times) + " times") + " ...";
}

}  // namespace whocall
