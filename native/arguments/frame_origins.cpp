// The way of a value back through the frames that handed it on.
#include "arguments/frame_values.h"

namespace whocall {
namespace {

using Kind = Value::Kind;
using Origin = ValueOrigin;

constexpr std::size_t kFarthestOrigin = 12;  // frames

}  // namespace

std::optional<ValueOrigin> FrameValues::origin(std::size_t index, Register number) {
  const View& view = views_[index];
  return view.values != nullptr && view.state
             ? origin_of(index, view.state->get(number), arch_.registers.size)
             : std::nullopt;
}

std::optional<ValueOrigin> FrameValues::origin_of_target(std::size_t caller) {
  const ValueId target = target_of(caller);
  return target != 0 ? origin_of(caller, target, arch_.registers.size) : std::nullopt;
}

std::optional<ValueOrigin> FrameValues::origin_of(std::size_t index, ValueId id,
                                                  std::uint8_t size) {
  const std::size_t first = index;
  while (index - first < kFarthestOrigin) {
    const auto made = made_in(index, id, size);
    const auto outer = made ? std::nullopt : handed_on(index, id);
    if (made || !outer) {
      return made ? made : index != first ? std::optional(Origin{.frame = index}) : std::nullopt;
    }
    id = *outer;
    ++index;
  }
  return Origin{.frame = index};
}

// What the frame's own code did to get it.
std::optional<ValueOrigin> FrameValues::made_in(std::size_t index, ValueId id, std::uint8_t size) {
  if (id == 0) {
    return std::nullopt;
  }
  const View& view = views_[index];
  const Value value = view.values->table()[id];
  if (value.kind == Kind::constant) {
    return Origin{.kind = Origin::Kind::constant, .frame = index};
  }
  if (value.kind == Kind::loaded && value.size == size) {
    const auto base = evaluate({.index = index, .id = value.base, .needed = arch_.registers.size});
    return Origin{.kind = Origin::Kind::loaded,
                  .frame = index,
                  .address = base && !base->now
                                 ? std::optional(in_register(base->value +
                                                             static_cast<Address>(value.number)))
                                 : std::nullopt};
  }
  const auto* const step = value.kind == Kind::made && value.number < std::int64_t{kRegisterLimit}
                               ? view.values->step_of(view.values->range().begin + value.at)
                               : nullptr;
  if (step == nullptr || !view.values->returns_in(*step, static_cast<Register>(value.number))) {
    return std::nullopt;
  }
  Origin returned{.kind = Origin::Kind::returned, .frame = index};
  returned.called = step->target;
  return returned;
}

// The same value in the frame that called this one, where it is as it was on entry.
std::optional<ValueId> FrameValues::handed_on(std::size_t index, ValueId id) const {
  const View& view = views_[index];
  if (id == 0 || !view.entered || view.called != view.values->range().begin ||
      index + 1 >= views_.size()) {
    return std::nullopt;
  }
  const Value value = view.values->table()[id];
  const View& caller = views_[index + 1];
  if (caller.values == nullptr || !caller.state || !caller.at_call) {
    return std::nullopt;
  }
  if (value.kind == Kind::entry) {
    const ValueId outer = caller.state->get(static_cast<Register>(value.number));
    return is_preserved(static_cast<Register>(value.number)) ? std::nullopt : std::optional(outer);
  }
  if (value.kind != Kind::entry_word || !caller.sp) {
    return std::nullopt;
  }
  const HeldWord* const word = caller.state->word_at(wrapped_sum(*caller.sp, value.number));
  return word != nullptr && !word->unsure ? word->value : ValueId{0};
}

}  // namespace whocall
