#include "arch/linked_return_path.h"

#include <utility>

#include "arch/path_state.h"

namespace whocall {
namespace {

constexpr int kLongest = 256;  // instructions, over all ways

class Runner {
 public:
  Runner(InstructionDecoder& decoder, const LinkedReturn& form, ByteView code, Address address)
      : decoder_(decoder), form_(form), code_(code), address_(address) {}

  std::optional<ReturnPath> run(PathState state, std::uint64_t at) {
    while (++steps_ < kLongest) {
      const auto instruction = decoder_.decode(code_.from(at), address_ + at);
      if (!instruction) {
        return std::nullopt;
      }
      for (const Effect& effect : instruction->list()) {
        apply(state, effect);
      }
      at += instruction->size;
      switch (instruction->flow) {
        case Instruction::Flow::next:
          break;
        case Instruction::Flow::call:
          state.after_call(form_.kept);
          break;
        case Instruction::Flow::jump:
          at = *instruction->target - address_;
          break;
        case Instruction::Flow::branch:
        case Instruction::Flow::branch_if_unequal: {
          const auto straight = run(state, at);
          return agreed(straight, run(state, *instruction->target - address_));
        }
        case Instruction::Flow::stop:
          return instruction->returns ? leave(state) : std::nullopt;
        case Instruction::Flow::indirect_jump:
          return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<ReturnPath> leave(const PathState& state) const {
    auto path = state.leaving(form_.sp, form_.fp);
    if (path) {
      path->link = state.get(form_.link);
      path->goroutine = state.get(form_.goroutine);
    }
    return path && path->link ? path : std::nullopt;
  }

  static void apply(PathState& state, const Effect& effect) {
    const auto place = [&](Register base) {
      return effect.scale == 0 ? plus(state.get(base), effect.offset) : std::nullopt;
    };
    switch (effect.kind) {
      case Effect::Kind::set:
        return state.set(effect.destination, plus(state.get(effect.source), effect.offset));
      case Effect::Kind::constant:
        return state.set(effect.destination,
                         PathValue{{PathStep::Kind::constant, 0, effect.offset}});
      case Effect::Kind::subtract:
        return state.set(
            effect.destination,
            plus(minus(state.get(effect.source), state.get(effect.index)), effect.offset));
      case Effect::Kind::load:
        return state.set(effect.destination, state.load(place(effect.source)));
      case Effect::Kind::store:
        return state.store(place(effect.destination), state.get(effect.source));
      case Effect::Kind::store_other:
        return state.store(plus(state.get(effect.destination), effect.offset), std::nullopt);
      case Effect::Kind::add:
      case Effect::Kind::clobber:
        return state.set(effect.destination, std::nullopt);
      case Effect::Kind::compare:
        return;
    }
  }

  InstructionDecoder& decoder_;
  const LinkedReturn& form_;
  ByteView code_;
  Address address_;
  int steps_ = 0;
};

}  // namespace

std::optional<ReturnPath> LinkedReturn::path(InstructionDecoder& decoder, ByteView code,
                                             Address address, std::uint64_t at) const {
  return Runner(decoder, *this, code, address).run(PathState(registers), at);
}

}  // namespace whocall
