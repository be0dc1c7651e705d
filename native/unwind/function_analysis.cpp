#include "unwind/function_analysis.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "unwind/abstract_state.h"
#include "unwind/function_reader.h"

namespace whocall {
namespace {

constexpr std::size_t kVisitsPerByte = 8;  // each merge loses something, so a few visits suffice
constexpr int kRestarts = 8;

// A call that a path passed just before the beginning of a block: it may be one that never returns.
struct Suspect {
  std::uint64_t behind = 0;         // offset behind the call; 0: none
  std::optional<Address> target{};  // of a direct call
};
using Suspects = std::array<Suspect, 4>;  // the last ones, latest first

class Analysis {
 public:
  Analysis(const FunctionCode& function, const Architecture& arch, InstructionDecoder& decoder)
      : function_(function),
        code_(function.code),
        address_(function.address),
        arch_(arch),
        reader_(function.code, function.address, arch, decoder) {}

  FollowedFunction run() {
    // Every round may find calls that do not come back; the next round knows them.
    for (int round = 0; round < kRestarts && flow_from_entries(); ++round) {
    }
    FollowedFunction result;
    for (auto& [offset, point] : points_) {
      if (point.size != 0) {
        result.points.push_back({{address_ + offset, address_ + offset + point.size},
                                 std::move(point.state),
                                 point.is_call});
      }
    }
    result.exits = std::move(exits_);
    return result;
  }

 private:
  struct Point {
    AbstractState state;
    std::uint8_t size = 0;
    bool is_call = false;
    Suspects suspects{};
  };

  // True when a call that does not come back was found, so that the flow has to be done again.
  bool flow_from_entries() {
    points_.clear();
    pending_.clear();
    exits_.clear();
    visits_ = 0;
    again_ = false;
    switches_.clear();
    if (function_.entries.empty()) {
      reach(0, AbstractState(arch_), {});
    }
    for (const FunctionExit& entry : function_.entries) {
      reach(entry.target - address_, entry.state, {});
    }
    drain();
    seed_unreached();
    return again_;
  }

  void drain() {
    while (!pending_.empty() && visits_ < kVisitsPerByte * code_.size() + 64) {
      const std::uint64_t offset = *pending_.begin();
      pending_.erase(pending_.begin());
      visit(offset);
    }
  }

  // Folklore. Situation: a call to a function that never returns (abort, exit, an own "fatal")
  // stands in the middle of a function; behind it begins a block that belongs to another path.
  // Example: gcc puts the error exit before a loop's head. Taking the call for one that comes back
  // joins two stack depths and loses the stack pointer for the rest of the function. Remedy: where
  // two depths meet, the calls that both paths last passed just before the beginning of a block are
  // looked at: does the called function return? And a call directly before the place where they
  // meet, when the other path came by a jump, does not.
  void reach(std::uint64_t offset, const AbstractState& state, const Suspects& suspects) {
    if (offset >= code_.size()) {
      return;
    }
    const auto found = points_.find(offset);
    if (found == points_.end()) {
      points_.emplace(offset, Point{.state = state, .suspects = suspects});
      pending_.insert(offset);
      return;
    }
    Point& point = found->second;
    if (point.state.disagrees(state)) {
      find_culprit(offset, point.suspects, suspects);
    }
    if (point.state.merge(state)) {
      pending_.insert(offset);
    }
  }

  void find_culprit(std::uint64_t offset, const Suspects& one, const Suspects& other) {
    bool found = false;
    for (const Suspects* suspects : {&one, &other}) {
      for (const Suspect& suspect : *suspects) {
        if (suspect.behind != 0 && never_returns(suspect.target)) {
          found = no_return_targets_.insert(*suspect.target).second || found;
        }
      }
    }
    const bool one_adjoins = adjoins(one, offset);
    if (!found && one_adjoins != adjoins(other, offset)) {
      found = no_return_.insert((one_adjoins ? one : other).front().behind).second;
    }
    again_ = again_ || found;
  }

  // Whether nothing but padding lies between the last suspicious call and `offset`.
  bool adjoins(const Suspects& suspects, std::uint64_t offset) {
    const std::uint64_t behind = suspects.front().behind;
    return behind != 0 && behind <= offset && reader_.behind_padding(behind) >= offset;
  }

  bool never_returns(const std::optional<Address>& target) const {
    return target && function_.never_returns && function_.never_returns(*target);
  }

  void visit(std::uint64_t offset) {
    ++visits_;
    Point& point = points_.at(offset);
    const Instruction* instruction = reader_.decode(offset);
    if (instruction == nullptr) {
      return;
    }
    point.size = instruction->size;
    point.is_call = instruction->flow == Instruction::Flow::call;
    AbstractState state = point.state;
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
    const Suspects suspects = point.suspects;  // reach() may move the points
    follow(*instruction, offset + instruction->size, std::move(state), suspects);
  }

  void follow(const Instruction& instruction, std::uint64_t next, AbstractState state,
              const Suspects& suspects) {
    using Flow = Instruction::Flow;
    switch (instruction.flow) {
      case Flow::next:
        return reach(next, state, suspects);
      case Flow::call:
        return come_back(instruction, next, std::move(state), suspects);
      case Flow::jump:
        return jump(instruction, state, suspects);
      case Flow::branch:
      case Flow::branch_if_unequal:
        jump(instruction, state, suspects);
        if (instruction.flow == Flow::branch_if_unequal) {
          state.compared_equal();
        }
        return reach(next, state, suspects);
      case Flow::indirect_jump:
        if (state.knows_frame()) {
          switches_.insert_or_assign(next, std::move(state));
        }
        return;
      case Flow::stop:
        return;
    }
  }

  void come_back(const Instruction& call, std::uint64_t next, AbstractState state,
                 Suspects suspects) {
    const bool known = call.target && no_return_targets_.contains(*call.target);
    if (known || no_return_.contains(next) || ends_function(next)) {
      return;
    }
    state.after_call();
    // Only a call at the end of a block can be one that does not come back.
    if (reader_.block_starts().contains(reader_.behind_padding(next)) ||
        reader_.behind_padding(next) != next) {
      std::shift_right(suspects.begin(), suspects.end(), 1);
      suspects.front() = {next, call.target};
    }
    reach(next, state, suspects);
  }

  // Jumps that leave the function are tail calls or go to its cold part.
  void jump(const Instruction& instruction, const AbstractState& state, const Suspects& suspects) {
    if (!instruction.target) {
      return;
    }
    const std::uint64_t offset = *instruction.target - address_;
    if (offset < code_.size()) {
      reach(offset, state, suspects);
    } else {
      exits_.push_back({*instruction.target, state});
    }
  }

  // Folklore. Situation: a function ends in a call that never returns. Example: gcc puts the call
  // to __stack_chk_fail last; behind it come padding and the next function, which nobody calls
  // directly. Remedy: behind padding, at an aligned address, code that begins by lowering the stack
  // pointer or with a landing pad is a function of its own.
  bool ends_function(std::uint64_t offset) {
    if (function_.exact_bounds) {
      return false;
    }
    const std::uint64_t start = reader_.behind_padding(offset);
    return start > offset && reader_.looks_like_function(start);
  }

  // Code that no path reaches: the cases of a switch, entered through a table with the state of
  // the jump; or, behind padding, a function of its own that nobody was known to call.
  void seed_unreached() {
    std::uint64_t offset = 0;
    while (offset < code_.size()) {
      auto point = points_.find(offset);
      if (point == points_.end()) {
        const std::uint64_t start = reader_.behind_padding(offset);
        if (start != offset) {
          offset = start;
          continue;
        }
        reach(offset, state_of_unreached(offset), {});
        drain();
        point = points_.find(offset);
      }
      const bool decoded = point != points_.end() && point->second.size != 0;
      offset += decoded ? point->second.size : arch_.code_alignment;
    }
  }

  // Unreached code is the cases of a switch, which run as deep as its jump, the landing pads of
  // exceptions, which run as deep as most of the function, or, where the bounds are guessed, a
  // function of its own.
  AbstractState state_of_unreached(std::uint64_t offset) {
    const bool own_function = !function_.exact_bounds && reader_.looks_like_function(offset);
    if (own_function || (switches_.empty() && !function_.exact_bounds)) {
      return AbstractState(arch_);
    }
    AbstractState usual = usual_state();
    const bool like_a_switch = std::ranges::any_of(
        switches_, [&](const auto& jump) { return !jump.second.disagrees(usual); });
    return switches_.empty() || like_a_switch ? usual : switches_.begin()->second;
  }

  // The state at a point whose stack pointer is the one that most points have.
  AbstractState usual_state() {
    std::map<std::int32_t, std::size_t> depths;
    const Point* usual = nullptr;
    std::size_t most = 0;
    for (const auto& [offset, point] : points_) {
      const AbstractValue sp = point.state.get(arch_.sp);
      if (sp.kind == AbstractValue::Kind::cfa && ++depths[sp.offset] > most) {
        most = depths[sp.offset];
        usual = &point;
      }
    }
    if (usual == nullptr) {
      return AbstractState(arch_);
    }
    AbstractState state = usual->state;
    state.after_call();
    return state;
  }

  const FunctionCode& function_;
  ByteView code_;
  Address address_;
  const Architecture& arch_;
  FunctionReader reader_;
  std::map<std::uint64_t, Point> points_;  // by offset
  std::set<std::uint64_t> pending_;
  std::set<std::uint64_t> no_return_;    // offsets behind calls that do not come back
  std::set<Address> no_return_targets_;  // functions that, as one such call showed, never return
  std::map<std::uint64_t, AbstractState> switches_;  // by offset behind an indirect jump
  std::vector<FunctionExit> exits_;
  std::size_t visits_ = 0;
  bool again_ = false;
};

}  // namespace

const UnwindRow* AnalysedFunction::row_at(Address address) const {
  const auto after = std::ranges::upper_bound(rows, address, {},
                                              [](const UnwindRow& row) { return row.range.begin; });
  return after != rows.begin() && std::prev(after)->range.contains(address) ? &*std::prev(after)
                                                                            : nullptr;
}

FollowedFunction follow_function(const FunctionCode& function, const Architecture& arch,
                                 InstructionDecoder& decoder) {
  return Analysis(function, arch, decoder).run();
}

AnalysedFunction make_rows(const std::vector<AnalysedPoint>& points) {
  AnalysedFunction result;
  for (const AnalysedPoint& point : points) {
    if (auto row = point.state.row(result.expressions)) {
      row->range = point.range;
      result.rows.push_back(std::move(*row));
    }
  }
  return result;
}

}  // namespace whocall
