#include "unwind/function_analysis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "unwind/abstract_state.h"

namespace whocall {
namespace {

constexpr std::size_t kVisitsPerByte = 8;  // each merge loses something, so a few visits suffice
constexpr int kRestarts = 8;
constexpr std::size_t kFunctionAlignment = 16;

class Analysis {
 public:
  Analysis(ByteView code, Address address, const Architecture& arch, InstructionDecoder& decoder)
      : code_(code), address_(address), arch_(arch), decoder_(decoder) {}

  AnalysedFunction run() {
    // Every round may find calls that do not come back; the next round knows them.
    for (int round = 0; round < kRestarts && flow_from_start(); ++round) {
    }
    return rows();
  }

 private:
  struct Point {
    AbstractState state;
    std::uint8_t size = 0;
    bool came_back = false;  // reached only from the call before it
  };

  // True when a call that does not come back was found, so that the flow has to be done again.
  bool flow_from_start() {
    points_.clear();
    pending_.clear();
    visits_ = 0;
    again_ = false;
    switch_state_.reset();
    reach(0, AbstractState(arch_), false);
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
  // a jump brings another depth than the call before does, the call does not come back.
  void reach(std::uint64_t offset, const AbstractState& state, bool came_back) {
    if (offset >= code_.size() || (came_back && no_return_.contains(offset))) {
      return;
    }
    const auto found = points_.find(offset);
    if (found == points_.end()) {
      points_.emplace(offset, Point{state, 0, came_back});
      pending_.insert(offset);
      return;
    }
    Point& point = found->second;
    if (point.state.disagrees(state) && point.came_back != came_back) {
      again_ = no_return_.insert(offset).second || again_;
    }
    point.came_back = point.came_back && came_back;
    if (point.state.merge(state)) {
      pending_.insert(offset);
    }
  }

  void visit(std::uint64_t offset) {
    ++visits_;
    Point& point = points_.at(offset);
    const auto instruction = decoder_.decode(code_.from(offset), address_ + offset);
    if (!instruction || instruction->size == 0) {
      return;
    }
    point.size = instruction->size;
    AbstractState state = point.state;
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
    follow(*instruction, offset + instruction->size, std::move(state));
  }

  void follow(const Instruction& instruction, std::uint64_t next, AbstractState state) {
    using Flow = Instruction::Flow;
    switch (instruction.flow) {
      case Flow::next:
        return reach(next, state, false);
      case Flow::call:
        if (!ends_function(next)) {
          state.after_call();
          reach(next, state, true);
        }
        return;
      case Flow::jump:
        return jump(instruction, state);
      case Flow::branch:
      case Flow::branch_if_unequal:
        jump(instruction, state);
        if (instruction.flow == Flow::branch_if_unequal) {
          state.compared_equal();
        }
        return reach(next, state, false);
      case Flow::indirect_jump:
        if (!switch_state_) {
          switch_state_ = state;
        }
        return;
      case Flow::stop:
        return;
    }
  }

  // Jumps that leave the function are tail calls or go to its cold part.
  void jump(const Instruction& instruction, const AbstractState& state) {
    if (instruction.target) {
      reach(*instruction.target - address_, state, false);
    }
  }

  // Folklore. Situation: a function ends in a call that never returns. Example: gcc puts the call
  // to __stack_chk_fail last; behind it come padding and the next function, which nobody calls
  // directly. Remedy: behind padding, at an aligned address, code that begins by lowering the stack
  // pointer or with a landing pad is a function of its own.
  bool ends_function(std::uint64_t offset) {
    const std::uint64_t start = behind_padding(offset);
    return start > offset && looks_like_function(start);
  }

  std::uint64_t behind_padding(std::uint64_t offset) {
    while (offset < code_.size()) {
      const auto instruction = decoder_.decode(code_.from(offset), address_ + offset);
      if (!instruction || !instruction->padding) {
        break;
      }
      offset += instruction->size;
    }
    return offset;
  }

  bool looks_like_function(std::uint64_t offset) {
    const auto instruction = decoder_.decode(code_.from(offset), address_ + offset);
    if (!instruction || (address_ + offset) % kFunctionAlignment != 0) {
      return false;
    }
    if (instruction->landing_pad) {
      return true;
    }
    const auto effects = instruction->list();
    return !effects.empty() && effects[0].kind == Effect::Kind::set &&
           effects[0].destination == arch_.sp && effects[0].source == arch_.sp &&
           effects[0].offset < 0;
  }

  // Code that no path reaches: the cases of a switch, entered through a table with the state of
  // the jump; or, behind padding, a function of its own that nobody was known to call.
  void seed_unreached() {
    std::uint64_t offset = 0;
    while (offset < code_.size()) {
      auto point = points_.find(offset);
      if (point == points_.end()) {
        const std::uint64_t start = behind_padding(offset);
        if (start != offset) {
          offset = start;
          continue;
        }
        const bool of_switch = switch_state_ && !looks_like_function(offset);
        reach(offset, of_switch ? *switch_state_ : AbstractState(arch_), false);
        drain();
        point = points_.find(offset);
      }
      const bool decoded = point != points_.end() && point->second.size != 0;
      offset += decoded ? point->second.size : arch_.code_alignment;
    }
  }

  AnalysedFunction rows() const {
    AnalysedFunction result;
    for (const auto& [offset, point] : points_) {
      auto row = point.size != 0 ? point.state.row(result.expressions) : std::nullopt;
      if (!row) {
        continue;
      }
      row->range = {address_ + offset, address_ + offset + point.size};
      result.rows.push_back(std::move(*row));
    }
    return result;
  }

  ByteView code_;
  Address address_;
  const Architecture& arch_;
  InstructionDecoder& decoder_;
  std::map<std::uint64_t, Point> points_;  // by offset in the code
  std::set<std::uint64_t> pending_;
  std::set<std::uint64_t> no_return_;  // offsets behind calls that do not come back
  std::optional<AbstractState> switch_state_;
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

AnalysedFunction analyse_function(ByteView code, Address address, const Architecture& arch,
                                  InstructionDecoder& decoder) {
  return Analysis(code, address, arch, decoder).run();
}

}  // namespace whocall
