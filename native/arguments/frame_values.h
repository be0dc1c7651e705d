// The values of one backtrace: what its frames hold, and what they were handed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arguments/argument_place.h"
#include "arguments/code_values.h"
#include "arguments/value_origin.h"
#include "unwind/backtrace.h"

namespace whocall {

// A value that was found, and whether it is only what memory holds now.
struct FoundValue {
  std::uint64_t value = 0;
  bool now = false;
};

class FrameValues {
 public:
  // Of the innermost `count` frames of `thread`'s walk. All must outlive it.
  FrameValues(CodeValues& code, const Thread& thread, const std::vector<Frame>& frames,
              std::size_t count);

  // The start of the function that was entered for this frame; a miss where that is not known.
  [[nodiscard]] std::optional<Address> entered_at(std::size_t index) const;

  // What `place` held when the frame was entered, as far as `needed` bytes of it are told
  // by what the frame itself holds still, and by what its caller put there.
  std::optional<FoundValue> by_callee(std::size_t index, const ArgumentPlace& place,
                                      std::uint8_t needed);
  std::optional<FoundValue> by_caller(std::size_t index, const ArgumentPlace& place,
                                      std::uint8_t needed, int depth = 0);

  // Where what `number` holds in a frame came from; a miss where the code does not tell it.
  std::optional<ValueOrigin> origin(std::size_t index, Register number);
  // Where the pointer leads by which a frame called, and where it came from. What was called may
  // have gone on by a jump.
  std::optional<FoundValue> target(std::size_t caller);
  std::optional<ValueOrigin> origin_of_target(std::size_t caller);

 private:
  // A frame, its function and what is known where it stands.
  struct View {
    Registers registers{};
    FunctionValues* values = nullptr;
    FunctionValues::SharedState state{};
    bool entered = false;  // at the function's first byte
    bool at_call = false;  // it stands in a call, which what calls do not preserve does not outlive
    std::optional<std::int64_t> sp{};  // its distance from the CFA there, bytes
    // Where the call of the frame above goes: to this function, or to one that jumps on to it.
    std::optional<Address> called{};
  };
  // A value in a frame; `nested`: of so many others.
  struct Question {
    std::size_t index = 0;
    ValueId id = 0;
    std::uint8_t needed = 0;
    int depth = 0;
    int nested = 0;
  };

  static constexpr int kDeepestValue = 16;  // computations on the way to one

  void look_at(std::size_t index);
  // 0 where it is not known.
  [[nodiscard]] Address cfa_of(std::size_t index) const;
  [[nodiscard]] std::optional<Address> called_by(std::size_t caller);
  [[nodiscard]] ValueId target_of(std::size_t caller) const;
  std::optional<FoundValue> by_jump(std::size_t index, const ArgumentPlace& place,
                                    std::uint8_t needed, int depth);
  std::optional<FoundValue> put_by_caller(std::size_t index, const ArgumentPlace& place,
                                          std::uint8_t needed, int depth);
  std::optional<FoundValue> left_at_jump(FunctionValues& jumping, const Question& asked);
  std::optional<FoundValue> evaluate(const Question& asked);
  std::optional<FoundValue> computed(const Value& value, const Question& asked);
  std::optional<FoundValue> on_entry(const Question& asked, Register number);
  [[nodiscard]] std::optional<FoundValue> loaded(Address where, std::uint8_t size) const;
  [[nodiscard]] std::optional<FoundValue> held(const Question& asked) const;
  [[nodiscard]] std::optional<FoundValue> held_on_stack(const Question& asked) const;
  std::optional<ValueOrigin> origin_of(std::size_t index, ValueId id, std::uint8_t size);
  std::optional<ValueOrigin> made_in(std::size_t index, ValueId id, std::uint8_t size);
  [[nodiscard]] std::optional<ValueId> handed_on(std::size_t index, ValueId id) const;
  [[nodiscard]] bool may_be_changed(std::size_t index, const HeldWord& word) const;
  [[nodiscard]] std::uint64_t in_register(std::uint64_t value) const;
  [[nodiscard]] bool is_preserved(Register number) const;

  CodeValues& code_;
  const ProcessImage& process_;
  const Architecture& arch_;
  const std::vector<Frame>& frames_;
  std::vector<View> views_;
};

}  // namespace whocall
