// Arguments of a function that was jumped to: by the code of the one that was called.
#include <algorithm>

#include "arguments/frame_values.h"
#include "base/low_bytes.h"

namespace whocall {
namespace {

using Kind = Value::Kind;

}  // namespace

// Folklore. Situation: the function that was called made its last call a jump; its frame is gone.
// Example: cmp(a, b) ends in `return report(os, 3, *b, 'q')`. Remedy: what stood in the registers
// at that jump is told by its code, as far as constants and its own arguments go.
std::optional<FoundValue> FrameValues::by_jump(std::size_t index, const ArgumentPlace& place,
                                               std::uint8_t needed, int depth) {
  const View& view = views_[index];
  FunctionValues* const jumping = code_.function_at(*view.called, true);
  if (jumping == nullptr || jumping->range().begin != *view.called || !view.entered) {
    return std::nullopt;
  }
  const Address target = view.values->range().begin;
  std::optional<ValueId> left;
  bool agree = true;
  jumping->visit([&](const FunctionValues::Step& step, const ValueState& state) {
    if (step.flow != Instruction::Flow::call && step.target &&
        code_.walker().judge().final_target({.target = step.target}) == target) {
      const HeldWord* const word = place.reg ? nullptr : state.word_at(place.offset);
      const ValueId here = place.reg                          ? state.get(*place.reg)
                           : word != nullptr && !word->unsure ? word->value
                                                              : 0;
      agree = agree && (!left || *left == here);
      left = here;
    }
  });
  return left && agree ? left_at_jump(*jumping, {index, *left, needed, depth}) : std::nullopt;
}

std::optional<FoundValue> FrameValues::left_at_jump(FunctionValues& jumping,
                                                    const Question& asked) {
  if (asked.id == 0 || asked.nested > kDeepestValue) {
    return std::nullopt;
  }
  const Value value = jumping.table()[asked.id];
  Question inner = asked;
  inner.id = value.base;
  ++inner.nested;
  switch (value.kind) {
    case Kind::constant:
      return FoundValue{static_cast<std::uint64_t>(value.number), false};
    case Kind::sum: {
      auto base = left_at_jump(jumping, inner);
      if (base) {
        base->value = in_register(base->value + static_cast<std::uint64_t>(value.number));
      }
      return base;
    }
    case Kind::low:
    case Kind::extended: {
      inner.needed = std::min(asked.needed, value.size);
      auto base = left_at_jump(jumping, inner);
      if (base) {
        base->value = value.kind == Kind::low ? low_bytes(base->value, value.size)
                                              : with_sign(base->value, value.size);
      }
      return base;
    }
    case Kind::partial:
      return asked.needed <= value.size ? left_at_jump(jumping, inner) : std::nullopt;
    case Kind::entry:
      return put_by_caller(asked.index, {static_cast<Register>(value.number)}, asked.needed,
                           asked.depth);
    case Kind::entry_word:
      return put_by_caller(asked.index, {std::nullopt, value.number}, asked.needed, asked.depth);
    default:
      return std::nullopt;
  }
}

}  // namespace whocall
