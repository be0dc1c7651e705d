// The values in a function, at each of its instructions: value numbering over its flow.
//
// The idea is that of Alpern, Wegman and Zadeck (Detecting equality of variables in programs,
// 1988): places are equal where the same computation filled them on all paths. What is asked here
// is which place that outlives a call still holds what was handed over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "arch/instruction.h"
#include "arch/value_flow.h"
#include "arguments/value_state.h"
#include "arguments/value_table.h"
#include "process/process_image.h"
#include "unwind/analysis/function_analyser.h"

namespace whocall {

// Which registers a direct call to an address may write.
using WrittenByCall = std::function<WrittenRegisters(Address)>;

class FunctionValues {
 public:
  static constexpr std::uint64_t kLargestFollowed = 1U << 17U;  // bytes of code

  // `function` in runtime addresses. `entered`: calls enter it at its first byte, as far as is
  // known, so that registers have the caller's values there.
  FunctionValues(const ProcessImage& process, FunctionAnalyser& analyser, ValueReader& reader,
                 const AddressRange& function, bool entered, const WrittenByCall& written_by);

  // An instruction that the flow reaches.
  struct Step {
    std::uint64_t offset = 0;  // in the function, bytes
    std::uint16_t size = 0;
    Instruction::Flow flow = Instruction::Flow::next;
    std::optional<Address> target{};  // runtime
    ValueFlow values{};
    WrittenRegisters written{};        // by the call
    std::optional<std::int64_t> sp{};  // its distance from the CFA before it, bytes
    std::optional<std::int64_t> fp{};  // the same of the frame pointer
  };

  using SharedState = std::shared_ptr<const ValueState>;

  // What is known before the instruction at `pc` (runtime) runs; null where no flow reaches it.
  // Threads and recursions ask for the same few, which are found once.
  [[nodiscard]] SharedState at(Address pc);
  // The same before the call that holds the byte at `pc`, a lookup address.
  [[nodiscard]] SharedState before_call(Address pc);

  // What is known just before the call of a step, by what is known before the step: other
  // instructions may be one with it.
  [[nodiscard]] ValueState at_call(const Step& step, const ValueState& before);

  // Whether it is a call that ran if the flow came by, and leaves there what was returned.
  [[nodiscard]] bool returns_in(const Step& step, Register number) const;

  // The instruction that holds the byte at `pc`; null for none that the flow reaches.
  [[nodiscard]] const Step* step_of(Address pc) const;

  // Calls visit(step, state) for every instruction in turn, with what is known before it.
  template <typename Visit>
  void visit(Visit visit);

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const AddressRange& range() const { return function_; }
  [[nodiscard]] bool entered() const { return entered_; }
  [[nodiscard]] ValueTable& table() { return table_; }
  [[nodiscard]] const ExposedWords& exposed() const { return exposed_; }
  [[nodiscard]] bool is_known() const { return !steps_.empty(); }
  // Whether all paths were followed to their end.
  [[nodiscard]] bool is_followed() {
    follow();
    return !states_.empty();
  }

 private:
  void read_steps(FunctionAnalyser& analyser, ValueReader& reader, const WrittenByCall& written_by);
  void follow();  // the flow, when it is first asked for
  void find_blocks();
  void flow();
  void seed_unreached();
  void drain();
  void run_block(std::size_t first);
  void reach(std::uint64_t offset, const ValueState& state);
  void sync(const Step& step, ValueState& state);
  void run(const Step& step, ValueState& state);
  [[nodiscard]] std::optional<std::size_t> step_at(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::size_t> step_holding(std::uint64_t offset) const;
  [[nodiscard]] SharedState before(std::size_t step);
  [[nodiscard]] std::optional<ValueState> found_before(std::size_t step);

  const ProcessImage& process_;
  const Architecture& arch_;
  AddressRange function_;
  bool entered_;
  std::span<const Register> results_;  // of calls
  ValueTable table_;
  std::vector<Step> steps_;                             // ascending
  std::set<std::uint64_t> leaders_;                     // where blocks begin
  std::map<std::uint64_t, ValueState> states_;          // by block
  std::set<std::uint64_t> pending_;                     // blocks
  std::unordered_map<std::size_t, SharedState> asked_;  // by step
  std::optional<ValueState> at_switches_;               // what indirect jumps bring along
  ExposedWords exposed_;
  std::size_t visits_ = 0;
  std::size_t work_ = 0;
  bool followed_ = false;
};

template <typename Visit>
void FunctionValues::visit(Visit visit) {
  follow();
  std::optional<ValueState> state;
  std::uint64_t next = 0;
  for (const Step& step : steps_) {
    const auto block = states_.find(step.offset);
    if (block != states_.end()) {
      state = block->second;
    } else if (step.offset != next) {
      state.reset();
    }
    next = step.offset + step.size;
    if (!state) {
      continue;
    }
    sync(step, *state);
    visit(step, *state);
    run(step, *state);
  }
}

}  // namespace whocall
