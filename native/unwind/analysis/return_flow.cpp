#include "unwind/analysis/return_flow.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "unwind/analysis/return_values.h"
#include "unwind/rows/expression_writer.h"

namespace whocall {
namespace {

constexpr std::size_t kLongest = 96;         // instructions from the call to the return
constexpr std::size_t kMostExplored = 2048;  // instructions on all ways to a return

class ReturnFlow {
 public:
  ReturnFlow(const ProcessImage& process, InstructionDecoder& decoder)
      : process_(process),
        arch_(*process.arch),
        decoder_(decoder),
        here_{.values = FollowedValues<ReturnValue>(arch_.registers.followed)} {
    const auto keep = [&](Register number) {
      here_.values.set(number, {ReturnKind::in_register, number, 0, 0});
    };
    std::ranges::for_each(arch_.registers.callee_saved, keep);
    keep(arch_.registers.sp);
  }

  // Whether the code from `pc` on comes to a return, past all branches.
  bool follow(Address pc) {
    here_.pc = pc;
    return run(kLongest);
  }

  // The same by whatever branches lead to one.
  bool explore(Address pc, const std::function<bool(Address)>& never_returns) {
    never_returns_ = &never_returns;
    here_.pc = pc;
    while (!run(kMostExplored)) {
      if (branches_.empty() || seen_.size() >= kMostExplored) {
        return false;
      }
      here_ = std::move(branches_.back());
      branches_.pop_back();
    }
    return true;
  }

  // Bytes of code that were looked at.
  [[nodiscard]] std::uint64_t followed() const { return followed_; }

  // Where the stack pointer comes out of memory.
  [[nodiscard]] std::optional<UnwindRow> row_from_memory(
      std::deque<std::vector<std::byte>>& arena) const {
    const ReturnValue sp = get(arch_.registers.sp);
    const std::int64_t pushed = arch_.frame.pushed_by_call;
    if (sp.kind != ReturnKind::in_word && sp.kind != ReturnKind::in_far_word) {
      return std::nullopt;
    }
    UnwindRow row;
    row.new_stack = true;
    row.return_address = arch_.registers.return_address;
    ExpressionWriter cfa(arena, arch_.abi.endian);
    cfa.base(sp.base, sp.slot).deref();
    if (sp.kind == ReturnKind::in_far_word) {
      cfa.plus(sp.offset).deref().plus(pushed);
    } else {
      cfa.plus(sp.offset + pushed);
    }
    row.cfa = {CfaRule::Kind::expression, 0, 0, cfa.view()};
    if (pushed != 0) {
      row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(-pushed)});
    } else if (!add(row, row.return_address, arena)) {
      return std::nullopt;
    }
    for (const Register number : arch_.registers.callee_saved) {
      if (number != row.return_address && !add(row, number, arena)) {
        row.rules.push_back({number, RegisterRule::undefined()});
      }
    }
    return row;
  }

  // Where it is counted from a register, and the call has pushed the return address.
  [[nodiscard]] std::optional<UnwindRow> row_from_register(
      std::deque<std::vector<std::byte>>& arena) const {
    const ReturnValue sp = get(arch_.registers.sp);
    const std::int64_t pushed = arch_.frame.pushed_by_call;
    if (sp.kind != ReturnKind::in_register || pushed == 0) {
      return std::nullopt;
    }
    UnwindRow row;
    row.return_address = arch_.registers.return_address;
    row.cfa = CfaRule::at(sp.base, sp.offset + pushed);
    row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(-pushed)});
    for (const Register number : arch_.registers.callee_saved) {
      const ReturnValue value = get(number);
      if (value.kind == ReturnKind::in_word && value.base == sp.base && value.offset == 0) {
        row.rules.push_back({number, RegisterRule::stored_at_cfa(value.slot - row.cfa.offset)});
      } else if (!add(row, number, arena)) {
        row.rules.push_back({number, RegisterRule::undefined()});
      }
    }
    return row;
  }

 private:
  // Whether the way from here on comes to a return.
  bool run(std::size_t most) {
    using Flow = Instruction::Flow;
    for (std::size_t steps = 0; steps < most && seen_.size() < kMostExplored; ++steps) {
      std::vector<std::byte> room;
      const auto bytes = process_.memory->bytes_at(here_.pc, kLongestLook, room);
      const auto instruction = decoder_.decode(ByteView(bytes, arch_.abi.endian), here_.pc);
      if (!instruction || instruction->size == 0 || !instruction->is_whole ||
          !seen_.insert(here_.pc).second) {
        return false;
      }
      followed_ += instruction->size;
      if (instruction->flow == Flow::stop || instruction->flow == Flow::indirect_jump) {
        return leaves(*instruction);
      }
      std::ranges::for_each(instruction->list(), [&](const Effect& effect) { apply(effect); });
      if (!go_on(*instruction)) {
        return false;
      }
    }
    return false;
  }

  // To the next instruction; false where there is none.
  bool go_on(const Instruction& instruction) {
    using Flow = Instruction::Flow;
    const auto& target = instruction.target;
    const bool branches =
        instruction.flow == Flow::branch || instruction.flow == Flow::branch_if_unequal;
    if (instruction.flow == Flow::call) {
      if (never_returns_ != nullptr && target && (*never_returns_)(*target)) {
        return false;
      }
      enter(instruction);
      forget_scratch();
    }
    if (branches && never_returns_ != nullptr && target) {
      branches_.push_back(here_);
      branches_.back().pc = *target;
    }
    const bool jumps = instruction.flow == Flow::jump && target;
    here_.pc = jumps ? *target : here_.pc + instruction.size;
    return true;
  }

  // Folklore. Situation: a function has functions of its own, which take the return address off the
  // stack and put it back. Example: PCRE2's compiler: call 1f; ... 1: pop (%rsp); ...; push %rax;
  // ret, and what they find to be wrong leaves the whole function from there. Remedy: a return by a
  // word that was pushed on the way is none, and calls in such code may lead to one that is.
  //
  // Folklore. Situation: the frame is left by a jump to whom the result is given. Example:
  // caml_runstack of OCaml 5: mov (%r10),%r13; ...; mov %r13,%rsp; jmp *(%rbx). Remedy: where the
  // old stack pointer is back by then, it is a call in place of the return.
  [[nodiscard]] bool leaves(const Instruction& last) const {
    const ReturnValue sp = get(arch_.registers.sp);
    if (last.flow == Instruction::Flow::indirect_jump) {
      return never_returns_ == nullptr &&
             (sp.kind == ReturnKind::in_word || sp.kind == ReturnKind::in_far_word);
    }
    return last.returns && !returns_to_stored(sp);
  }

  [[nodiscard]] bool returns_to_stored(const ReturnValue& sp) const {
    return arch_.frame.pushed_by_call != 0 && sp.kind == ReturnKind::in_register &&
           find_stored(sp) != nullptr;
  }

  void enter(const Instruction& call) {
    const std::int64_t pushed = arch_.frame.pushed_by_call;
    if (never_returns_ == nullptr || !call.target || pushed == 0 ||
        process_.mapping_at(*call.target) != process_.mapping_at(here_.pc)) {
      return;
    }
    branches_.push_back(here_);
    WayPoint& callee = branches_.back();
    callee.pc = *call.target;
    const ReturnValue sp = moved(get(arch_.registers.sp), -pushed);
    callee.values.set(arch_.registers.sp, sp);
    if (sp.kind == ReturnKind::in_register) {
      callee.stored.push_back({sp.base, sp.offset, {}});
    }
  }

  [[nodiscard]] ReturnValue get(Register number) const { return here_.values.get(number); }
  void set(Register number, const ReturnValue& value) { here_.values.set(number, value); }

  void apply(const Effect& effect) {
    switch (effect.kind) {
      case Effect::Kind::set:
        set(effect.destination, moved(get(effect.source), effect.offset));
        return;
      case Effect::Kind::load:
        set(effect.destination,
            effect.scale == 0 ? word_at(moved(get(effect.source), effect.offset)) : ReturnValue{});
        return;
      case Effect::Kind::store:
        store(effect, get(effect.source));
        return;
      case Effect::Kind::store_other:
        store(effect, {});
        return;
      case Effect::Kind::compare:
        return;
      case Effect::Kind::constant:
      case Effect::Kind::add:
      case Effect::Kind::subtract:
      case Effect::Kind::clobber:
        set(effect.destination, {});
        return;
    }
  }

  void store(const Effect& effect, const ReturnValue& value) {
    const ReturnValue place = moved(get(effect.destination), effect.offset);
    if (place.kind == ReturnKind::in_register && effect.scale == 0) {
      here_.stored.push_back({place.base, place.offset, value});
    }
  }

  [[nodiscard]] ReturnValue word_at(const ReturnValue& address) const {
    if (const StoredWord* stored = find_stored(address)) {
      return stored->value;
    }
    switch (address.kind) {
      case ReturnKind::in_register:
        return {ReturnKind::in_word, address.base, address.offset, 0};
      case ReturnKind::in_word:
        return {ReturnKind::in_far_word, address.base, address.slot, address.offset};
      case ReturnKind::unknown:
      case ReturnKind::in_far_word:
        break;
    }
    return {};
  }

  // What was stored there last; null where nothing was.
  [[nodiscard]] const StoredWord* find_stored(const ReturnValue& address) const {
    const auto last =
        std::find_if(here_.stored.rbegin(), here_.stored.rend(), [&](const StoredWord& stored) {
          return address.kind == ReturnKind::in_register && stored.base == address.base &&
                 stored.slot == address.offset;
        });
    return last != here_.stored.rend() ? &*last : nullptr;
  }

  void forget_scratch() {
    const auto& preserved = arch_.registers.callee_saved;
    here_.values.change_each([&](Register number, ReturnValue& value) {
      const bool kept =
          number == arch_.registers.sp || std::ranges::find(preserved, number) != preserved.end();
      value = kept ? value : ReturnValue{};
    });
  }

  // The rule of a register whose value on entry is where `number` is when the function returns.
  bool add(UnwindRow& row, Register number, std::deque<std::vector<std::byte>>& arena) const {
    const ReturnValue value = get(number);
    if (value.kind == ReturnKind::in_register && value.offset == 0) {
      row.rules.push_back(
          {number, value.base == number ? RegisterRule::same() : RegisterRule::from(value.base)});
      return true;
    }
    const bool near = value.kind == ReturnKind::in_word && value.offset == 0;
    if (!near && value.kind != ReturnKind::in_far_word) {
      return false;
    }
    ExpressionWriter place(arena, arch_.abi.endian);
    place.base(value.base, value.slot);
    if (!near) {
      place.deref().plus(value.offset);
    }
    row.rules.push_back({number, RegisterRule::stored_at(place.view())});
    return true;
  }

  const ProcessImage& process_;
  const Architecture& arch_;
  InstructionDecoder& decoder_;
  WayPoint here_;
  std::vector<WayPoint> branches_;  // that were not taken, the last one last
  std::unordered_set<Address> seen_;
  std::uint64_t followed_ = 0;
  const std::function<bool(Address)>* never_returns_ = nullptr;  // null: branches are passed
};

}  // namespace

std::optional<UnwindRow> row_behind_call(Address pc, const ProcessImage& process,
                                         InstructionDecoder& decoder,
                                         std::deque<std::vector<std::byte>>& arena) {
  ReturnFlow flow(process, decoder);
  return flow.follow(pc) ? flow.row_from_memory(arena) : std::nullopt;
}

std::optional<UnwindRow> row_to_return(Address pc, const ProcessImage& process,
                                       InstructionDecoder& decoder,
                                       const std::function<bool(Address)>& never_returns,
                                       std::deque<std::vector<std::byte>>& arena,
                                       std::uint64_t& followed) {
  ReturnFlow flow(process, decoder);
  const bool returns = flow.explore(pc, never_returns);
  followed += flow.followed();
  return returns ? flow.row_from_register(arena) : std::nullopt;
}

}  // namespace whocall
