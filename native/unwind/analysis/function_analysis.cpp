#include "unwind/analysis/function_analysis.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/interrupt.h"
#include "unwind/analysis/abstract_state.h"
#include "unwind/analysis/flow_points.h"
#include "unwind/analysis/function_reader.h"
#include "unwind/analysis/offset_set.h"
#include "unwind/analysis/suspect_calls.h"
#include "unwind/analysis/switch_jumps.h"

namespace whocall {
namespace {

constexpr std::size_t kVisitsPerByte = 8;  // each merge loses something, so a few visits suffice
constexpr int kRestarts = 16;

class Analysis {
 public:
  Analysis(const FunctionCode& function, const Architecture& arch, InstructionDecoder& decoder)
      : function_(function),
        code_(function.code),
        address_(function.address),
        arch_(arch),
        reader_(function.code, function.address, arch, decoder),
        calls_(reader_, function),
        popping_(arch),
        points_(arch, function.code.size()),
        pending_(function.code.size()),
        switches_(arch) {}

  FollowedFunction run() {
    // Every round may find calls that do not come back; the next round knows them.
    for (int round = 0; round < kRestarts && flow_from_entries(); ++round) {
    }
    FollowedFunction result;
    // Where the jumps do not agree, any place may be a target.
    const bool doubtful = !switches_.empty() && !switches_.agree();
    result.points.reserve(points_.size());
    std::move(points_).take([&](std::uint64_t offset, FlowPoint& point) {
      if (point.size != 0) {
        result.points.push_back({{address_ + offset, address_ + offset + point.size},
                                 std::move(point.state),
                                 point.is_call,
                                 doubtful || (point.guessed && switches_.empty()),
                                 doubtful});
      }
    });
    result.exits = std::move(exits_);
    result.has_unreached = has_unreached_;
    return result;
  }

 private:
  // True when a call that does not come back was found, so that the flow has to be done again.
  bool flow_from_entries() {
    points_.clear();
    pending_.clear();
    exits_.clear();
    visits_ = 0;
    again_ = false;
    has_unreached_ = false;
    guessing_ = false;
    switches_.clear();
    targets_.clear();
    behind_computation_.clear();
    if (function_.entries.empty()) {
      reach(0, AbstractState(arch_), {});
    }
    for (const FunctionExit& entry : function_.entries) {
      if (!entry.guessed) {
        reach(entry.target - address_, entry.state, {});
      }
    }
    drain();
    guessing_ = true;
    for (const FunctionExit& entry : function_.entries) {
      const FlowPoint* known = points_.find(entry.target - address_);
      if (entry.guessed && (known == nullptr || known->guessed)) {
        has_unreached_ = true;
        reach(entry.target - address_, entry.state, {});
        drain();
      }
    }
    seed_unreached();
    return again_;
  }

  void drain() {
    while (!pending_.empty() && visits_ < kVisitsPerByte * code_.size() + 64) {
      check_interrupt_at(visits_, kManyEntries);
      visit(pending_.take_first());
    }
  }

  void reach(std::uint64_t offset, const AbstractState& state, const PassedCalls& passed) {
    if (offset >= code_.size()) {
      return;
    }
    const FlowPoint* point = points_.find(offset);
    if (point == nullptr) {
      if (points_.add(offset, {.state = state, .guessed = guessing_, .passed = passed})) {
        pending_.insert(offset);
      }
      return;
    }
    const bool certain = !point->guessed && guessing_;  // then a guess takes nothing away
    const bool meet_rightly =
        (!point->state.disagrees(state) || lowers_by_turns(point->state, state)) &&
        !point->state.saves_otherwise(state);
    if (!meet_rightly && !(certain && !switches_.agree())) {
      again_ = popping_.find_where_they_meet(point->state, point->passed.unknown, state,
                                             passed.unknown) ||
               calls_.mark_no_return(offset, point->passed.suspects, passed.suspects) || again_;
    }
    if (!certain && points_.merge(offset, state)) {
      pending_.insert(offset);
    }
  }

  // Folklore. Situation: a loop makes room on the stack at every turn, while the frame pointer
  // keeps the frame. Example: alloca in compiled Scheme, which stands on the stack until it is
  // collected. Remedy: paths that agree on the frame pointer may differ in the stack pointer; that
  // convicts no call of not coming back.
  [[nodiscard]] bool lowers_by_turns(const AbstractState& one, const AbstractState& other) const {
    return std::ranges::any_of(arch_.registers.frame_pointers(), [&](Register each) {
      const AbstractValue frame = one.get(each);
      return frame.kind == AbstractValue::Kind::cfa && frame == other.get(each);
    });
  }

  void visit(std::uint64_t offset) {
    ++visits_;
    const Instruction* instruction = reader_.decode(offset);
    if (instruction == nullptr) {
      return;
    }
    const bool is_call = instruction->flow == Instruction::Flow::call;
    const FlowPoint& point = points_.pass(offset, instruction->size, is_call);
    AbstractState state = point.state;
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
    const auto effects = instruction->list();
    if (effects.size() == 1 && effects[0].kind == Effect::Kind::clobber) {
      behind_computation_.insert(offset + instruction->size);
    }
    const PassedCalls passed = point.passed;  // reach() may move the points
    if (is_call) {
      throw_from(offset, state);
    }
    follow(*instruction, offset + instruction->size, std::move(state), passed);
  }

  // A call that throws goes on at its landing pad, as deep as it was itself.
  void throw_from(std::uint64_t offset, AbstractState state) {
    const Address at = address_ + offset;
    const auto after = std::ranges::upper_bound(function_.landing_pads, at, {},
                                                [](const auto& pad) { return pad.calls.begin; });
    if (after == function_.landing_pads.begin() || !std::prev(after)->calls.contains(at)) {
      return;
    }
    const Address pad = std::prev(after)->address;
    state.after_call();
    const FlowPoint* found = points_.find(pad - address_);
    if (found != nullptr && found->state.disagrees(state)) {
      // Of calls with and without pushed arguments: the runtime drops the arguments.
      if (found->state.get(arch_.registers.sp).offset >= state.get(arch_.registers.sp).offset) {
        return;
      }
      points_.erase(pad - address_);
    }
    go_to(pad, state, {});
  }

  void follow(const Instruction& instruction, std::uint64_t next, AbstractState state,
              const PassedCalls& passed) {
    using Flow = Instruction::Flow;
    switch (instruction.flow) {
      case Flow::next:
        return reach(next, state, passed);
      case Flow::call:
        return come_back(instruction, next, std::move(state), passed);
      case Flow::jump:
        return go_to(instruction.target, state, passed);
      case Flow::branch:
      case Flow::branch_if_unequal:
        go_to(instruction.target, state, passed);
        if (instruction.flow == Flow::branch_if_unequal && !state.compared_equal()) {
          return;
        }
        return reach(next, state, passed);
      case Flow::indirect_jump:
        return jump_by_table(next - instruction.size, state, passed);
      case Flow::stop:
        again_ = (instruction.returns && popping_.find_at_return(state, passed.unknown)) || again_;
        return;
    }
  }

  // What was followed from the targets already, as of a deeper knowledge, is followed again.
  void jump_by_table(std::uint64_t jump, const AbstractState& state, const PassedCalls& passed) {
    const std::vector<Address> known = reader_.table_targets(jump);
    for (const Address target : known) {
      go_to(target, state, passed);
    }
    if (known.empty() && switches_.add(state, behind_computation_.contains(jump))) {
      for (const std::uint64_t target : targets_) {
        reach(target, switches_.at_targets(), {});
      }
    }
  }

  void come_back(const Instruction& call, std::uint64_t next, AbstractState state,
                 const PassedCalls& passed) {
    if (enters_own_code(call, state, passed) || !calls_.comes_back(call.target, next) ||
        ends_function(next)) {
      return;
    }
    // Folklore: hand-written code keeps the old stack pointer in a scratch register over calls of
    // its own helpers. Example: %r11 in the AES loops of OpenSSL.
    const auto written = state.leans_on_scratch() && call.target && function_.written_by
                             ? function_.written_by(*call.target)
                             : std::nullopt;
    PassedCalls behind{calls_.after_call(passed.suspects, call.target, next), passed.unknown};
    const auto popped =
        call.target && function_.popped_by ? function_.popped_by(*call.target) : std::nullopt;
    if (!popped) {
      behind.unknown = popping_.after_call(passed.unknown, state, next);
    }
    written ? state.after_call(*written) : state.after_call();
    state.apply({Effect::Kind::set, arch_.registers.sp, arch_.registers.sp,
                 popped ? *popped : popping_.popped(next)});
    reach(next, state, behind);
  }

  // Folklore. Situation: code calls a place inside itself. Example: hand-written assembly keeps
  // helpers between the entry points that its unwind tables cover as one; retpolines are
  // `call 1f; 2: pause; jmp 2b; 1: mov %rax,(%rsp); ret`. Remedy: such a place is entered as a
  // function is, unless its first instruction replaces or drops the return address: then it is a
  // jump with a word pushed. True: does not come back.
  bool enters_own_code(const Instruction& call, AbstractState& state, const PassedCalls& passed) {
    const auto inner = own_offset(call.target);
    if (!inner) {
      return false;
    }
    if (!reader_.drops_return_address(*inner)) {
      reach(*inner, AbstractState(arch_), {});
      return false;
    }
    state.apply(
        {Effect::Kind::set, arch_.registers.sp, arch_.registers.sp, -arch_.frame.pushed_by_call});
    reach(*inner, state, passed);
    return true;
  }

  // The offset of a call's target inside the function, behind its first instruction.
  std::optional<std::uint64_t> own_offset(const std::optional<Address>& target) const {
    const std::uint64_t offset = target ? *target - address_ : 0;
    return offset != 0 && offset < code_.size() ? std::optional(offset) : std::nullopt;
  }

  // Jumps that leave the function are tail calls or go to its cold part.
  void go_to(const std::optional<Address>& target, const AbstractState& state,
             const PassedCalls& passed) {
    if (target && *target - address_ < code_.size()) {
      reach(*target - address_, state, passed);
    } else if (target) {
      exits_.push_back({*target, state, has_unreached_});
    }
  }

  // Folklore. Situation: a function ends in a call that never returns. Example: gcc puts the call
  // to __stack_chk_fail last; behind it come padding and the next function, which nobody calls
  // directly, or constants. Remedy: behind padding, at an aligned address, code that begins by
  // lowering the stack pointer or with a landing pad is a function of its own.
  bool ends_function(std::uint64_t offset) {
    const std::uint64_t start = reader_.behind_padding(offset);
    return reader_.leads_into_constant(offset) ||
           (start >= function_.delimited && start > offset && reader_.looks_like_function(start));
  }

  // Code that no path reaches: the cases of a switch, entered through a table with the state of
  // the jump; or, behind padding, a function of its own that nobody was known to call.
  void seed_unreached() {
    std::uint64_t offset = 0;
    while (offset < code_.size()) {
      const FlowPoint* point = points_.find(offset);
      if (point == nullptr) {
        const std::uint64_t start = reader_.behind_padding(offset);
        if (start != offset) {
          offset = start;
          continue;
        }
        // Where all indirect jumps run equally deep, there is no doubt of their targets.
        has_unreached_ = has_unreached_ || !switches_.agree();
        reach(offset, state_of_unreached(offset), {});
        drain();
        point = points_.find(offset);
      }
      offset += point != nullptr && point->size != 0 ? point->size : arch_.code.alignment;
    }
  }

  // Unreached code is the cases of a switch, which run as deep as its jump, the landing pads of
  // exceptions, which run as deep as most of the function, or, where the bounds are guessed and no
  // jumps from outside lead here, a function of its own.
  AbstractState state_of_unreached(std::uint64_t offset) {
    const bool called = switches_.empty() && function_.entries.empty();
    if (offset >= function_.delimited && (called || reader_.looks_like_function(offset))) {
      return AbstractState(arch_);
    }
    if (switches_.empty()) {
      return points_.usual_state();
    }
    targets_.insert(offset);
    return switches_.at_targets();
  }

  const FunctionCode& function_;
  ByteView code_;
  Address address_;
  const Architecture& arch_;
  FunctionReader reader_;
  SuspectCalls calls_;
  PoppingCalls popping_;
  FlowPoints points_;
  OffsetSet pending_;
  SwitchJumps switches_;
  std::set<std::uint64_t> targets_;             // code that nothing but indirect jumps can lead to
  std::set<std::uint64_t> behind_computation_;  // of one register
  std::vector<FunctionExit> exits_;
  std::size_t visits_ = 0;
  bool again_ = false;
  bool has_unreached_ = false;
  bool guessing_ = false;
};

}  // namespace

FollowedFunction follow_function(const FunctionCode& function, const Architecture& arch,
                                 InstructionDecoder& decoder) {
  return Analysis(function, arch, decoder).run();
}

}  // namespace whocall
