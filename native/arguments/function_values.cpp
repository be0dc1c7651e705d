#include "arguments/function_values.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"
#include "process/process_decoder.h"

namespace whocall {
namespace {

constexpr std::size_t kVisitsPerBlock = 12;
constexpr std::size_t kBlocksAtOnce = 256;  // before somebody may interrupt
// Registers and words that are looked at on the way through a function; of one that takes more,
// nothing is told.
constexpr std::size_t kMostWork = 4'000'000;
constexpr int kMostRounds = 3;  // each may find more words whose addresses are handed away

std::optional<std::int64_t> distance_of(const AbstractValue& value) {
  return value.kind == AbstractValue::Kind::cfa ? std::optional<std::int64_t>(value.offset)
                                                : std::nullopt;
}

bool ends_block(Instruction::Flow flow) {
  return flow != Instruction::Flow::next && flow != Instruction::Flow::call;
}

// Of an instruction of which no more is known than which registers it writes.
ValueFlow unknown_writes(const Instruction& instruction) {
  ValueFlow flow;
  for (const Effect& effect : instruction.list()) {
    const bool to_register = effect.kind != Effect::Kind::store &&
                             effect.kind != Effect::Kind::store_other &&
                             effect.kind != Effect::Kind::compare;
    if (to_register) {
      flow.writes.emplace_back().destination = effect.destination;
    }
  }
  return flow;
}

}  // namespace

FunctionValues::FunctionValues(const ProcessImage& process, FunctionAnalyser& analyser,
                               ValueReader& reader, const AddressRange& function, bool entered,
                               const WrittenByCall& written_by)
    : process_(process),
      arch_(*process.arch),
      function_(function),
      entered_(entered),
      results_(reader.results()),
      table_(process.arch->registers.size) {
  if (function.empty() || function.size() > kLargestFollowed) {
    return;
  }
  read_steps(analyser, reader, written_by);
}

void FunctionValues::follow() {
  if (followed_) {
    return;
  }
  find_blocks();
  for (int round = 0; round < kMostRounds; ++round) {
    const std::size_t known = exposed_.size();
    flow();
    if (exposed_.size() == known) {
      break;
    }
  }
  followed_ = true;  // not where somebody interrupted it
}

void FunctionValues::read_steps(FunctionAnalyser& analyser, ValueReader& reader,
                                const WrittenByCall& written_by) {
  std::vector<std::byte> code(function_.size());
  code.resize(process_.memory->read(function_.begin, code));
  const ByteView bytes(code, arch_.abi.endian);
  const auto decoder = decoder_for(process_);
  const FollowedFunction followed =
      entered_ ? analyser.follow_entered(function_) : analyser.follow(function_);
  for (const AnalysedPoint& point : followed.points) {
    const std::uint64_t offset = point.range.begin - function_.begin;
    if (offset >= bytes.size() || point.range.empty()) {
      continue;
    }
    const auto instruction = decoder->decode(bytes.from(offset), point.range.begin);
    if (!instruction) {
      continue;
    }
    Step step;
    step.offset = offset;
    step.size = instruction->size;
    step.flow = instruction->flow;
    step.target = instruction->target;
    if (!point.guessed) {
      step.sp = distance_of(point.state.get(arch_.registers.sp));
    }
    step.fp = distance_of(point.state.get(arch_.registers.fp));
    auto values = reader.read(bytes.from(offset), point.range.begin);
    step.values = values ? std::move(*values) : unknown_writes(*instruction);
    if (step.flow == Instruction::Flow::call) {
      const bool inside = step.target && function_.contains(*step.target);
      step.written = step.target && !inside ? written_by(*step.target) : WrittenRegisters().set();
    }
    steps_.push_back(std::move(step));
  }
}

void FunctionValues::find_blocks() {
  if (steps_.empty()) {
    return;
  }
  leaders_.insert(steps_.front().offset);
  std::uint64_t next = steps_.front().offset;
  for (const Step& step : steps_) {
    if (step.offset != next) {
      leaders_.insert(step.offset);
    }
    next = step.offset + step.size;
    const bool is_call = step.flow == Instruction::Flow::call;
    if (step.target && !is_call && function_.contains(*step.target)) {
      leaders_.insert(*step.target - function_.begin);
    }
    if (ends_block(step.flow)) {
      leaders_.insert(next);
    }
  }
}

void FunctionValues::flow() {
  states_.clear();
  pending_.clear();
  at_switches_.reset();
  visits_ = 0;
  if (entered_) {
    reach(0, ValueState::on_entry(arch_, table_));
  }
  drain();
  seed_unreached();
  if (work_ > kMostWork || !pending_.empty()) {  // not all paths were followed to their end
    states_.clear();
    pending_.clear();
  }
}

// The cases of a switch run with what its jump brings along; of all else that no path reaches
// (landing pads of exceptions, parts of functions) nothing is known but how deep it runs.
void FunctionValues::seed_unreached() {
  for (const Step& step : steps_) {
    if (leaders_.contains(step.offset) && !states_.contains(step.offset)) {
      reach(step.offset, at_switches_ ? *at_switches_ : ValueState(arch_));
      drain();
    }
  }
}

void FunctionValues::drain() {
  while (!pending_.empty() && visits_ < kVisitsPerBlock * leaders_.size() + 64) {
    check_interrupt_at(visits_++, kBlocksAtOnce);
    const std::uint64_t offset = *pending_.begin();
    pending_.erase(pending_.begin());
    if (const auto first = step_at(offset)) {
      run_block(*first);
    }
  }
}

void FunctionValues::run_block(std::size_t first) {
  ValueState state = states_.find(steps_[first].offset)->second;
  for (std::size_t at = first; at < steps_.size(); ++at) {
    const Step& step = steps_[at];
    if (at != first && leaders_.contains(step.offset)) {
      return reach(step.offset, state);
    }
    sync(step, state);
    work_ += 1 + state.words().size() / 8;
    run(step, state);
    const std::uint64_t next = step.offset + step.size;
    if (step.target && step.flow != Instruction::Flow::call && function_.contains(*step.target)) {
      reach(*step.target - function_.begin, state);
    }
    switch (step.flow) {
      case Instruction::Flow::next:
      case Instruction::Flow::call:
        if (at + 1 == steps_.size() || steps_[at + 1].offset != next) {
          return;
        }
        break;
      case Instruction::Flow::branch:
      case Instruction::Flow::branch_if_unequal:
        return reach(next, state);
      case Instruction::Flow::indirect_jump:
        if (!at_switches_) {
          at_switches_ = state;
        } else {
          at_switches_->merge(state, table_, ~std::uint64_t{0} >> 1U, exposed_);
        }
        return;
      default:
        return;
    }
  }
}

void FunctionValues::reach(std::uint64_t offset, const ValueState& state) {
  work_ += state.registers().count() + state.words().size();
  if (work_ > kMostWork) {
    return;
  }
  const auto [known, fresh] = states_.try_emplace(offset, state);
  if (fresh || known->second.merge(state, table_, offset, exposed_)) {
    pending_.insert(offset);
  }
}

// How deep the code runs there is better known to who follows calls that pop their arguments.
void FunctionValues::sync(const Step& step, ValueState& state) {
  if (step.sp) {
    state.set(arch_.registers.sp, table_.cfa(*step.sp));
  }
  if (step.fp) {
    state.set(arch_.registers.fp, table_.cfa(*step.fp));
  }
}

void FunctionValues::run(const Step& step, ValueState& state) {
  state.apply(step.values, table_, step.offset, exposed_);
  if (step.flow == Instruction::Flow::call) {
    state.after_call(arch_, table_, step.offset, {step.written, results_}, exposed_);
  }
}

bool FunctionValues::returns_in(const Step& step, Register number) const {
  return step.flow == Instruction::Flow::call && !step.values.may_not_run &&
         std::ranges::find(results_, number) != results_.end();
}

ValueState FunctionValues::at_call(const Step& step, const ValueState& before) {
  ValueState state = before;
  if (!step.values.before_call.empty()) {
    state.apply({.writes = step.values.before_call}, table_, step.offset, exposed_);
  }
  return state;
}

std::optional<std::size_t> FunctionValues::step_at(std::uint64_t offset) const {
  const auto found = std::ranges::lower_bound(steps_, offset, {}, &Step::offset);
  return found != steps_.end() && found->offset == offset
             ? std::optional(static_cast<std::size_t>(found - steps_.begin()))
             : std::nullopt;
}

std::optional<std::size_t> FunctionValues::step_holding(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(steps_, offset, {}, &Step::offset);
  if (after == steps_.begin()) {
    return std::nullopt;
  }
  const auto found = std::prev(after);
  return offset < found->offset + found->size
             ? std::optional(static_cast<std::size_t>(found - steps_.begin()))
             : std::nullopt;
}

FunctionValues::SharedState FunctionValues::at(Address pc) {
  follow();
  const auto step = step_at(pc - function_.begin);
  return step ? before(*step) : nullptr;
}

FunctionValues::SharedState FunctionValues::before_call(Address pc) {
  follow();
  const auto step = step_holding(pc - function_.begin);
  SharedState known = step ? before(*step) : nullptr;
  if (known == nullptr || steps_[*step].values.before_call.empty()) {
    return known;
  }
  return std::make_shared<const ValueState>(at_call(steps_[*step], *known));
}

const FunctionValues::Step* FunctionValues::step_of(Address pc) const {
  const auto step = step_holding(pc - function_.begin);
  return step ? &steps_[*step] : nullptr;
}

// No more of them are held than of blocks: then they are found anew.
FunctionValues::SharedState FunctionValues::before(std::size_t step) {
  constexpr std::size_t kFewest = 16;
  const auto known = asked_.find(step);
  if (known != asked_.end()) {
    return known->second;
  }
  if (asked_.size() >= std::max(kFewest, states_.size())) {
    asked_.clear();
  }
  auto found = found_before(step);
  SharedState& kept = asked_[step];
  kept = found ? std::make_shared<const ValueState>(std::move(*found)) : nullptr;
  return kept;
}

std::optional<ValueState> FunctionValues::found_before(std::size_t step) {
  const auto after = leaders_.upper_bound(steps_[step].offset);
  if (after == leaders_.begin()) {
    return std::nullopt;
  }
  const auto block = states_.find(*std::prev(after));
  const auto first = step_at(*std::prev(after));
  if (block == states_.end() || !first) {
    return std::nullopt;
  }
  ValueState state = block->second;
  for (std::size_t at = *first; at <= step; ++at) {
    sync(steps_[at], state);
    if (at == step) {
      return state;
    }
    run(steps_[at], state);
  }
  return std::nullopt;
}

}  // namespace whocall
