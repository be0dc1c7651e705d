#include "arch/riscv/save_routine.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "arch/riscv/effects.h"
#include "arch/riscv/fields.h"

namespace whocall::riscv {
namespace {

using Flow = Instruction::Flow;
using Kind = Effect::Kind;

constexpr Register kT1 = 6;
constexpr unsigned kLongest = 32;  // instructions

// By how much slli t1,t1,AMOUNT shifts, short or long.
std::optional<unsigned> shift_of_count(ByteView code) {
  const std::uint32_t parcel = parcel_at(code, 0).value_or(0);
  if ((parcel & 0xff83U) == (0x0002U | std::uint32_t{kT1} << 7U)) {
    return bits(parcel, 2, 5);
  }
  const std::uint32_t word = word_at(code, 0).value_or(0);
  const bool shifts = opcode(word) == kOpImm && funct3(word) == 1 && bits(word, 25, 7) == 0;
  return shifts && rd(word) == kT1 && rs1(word) == kT1 ? std::optional(bits(word, 20, 5))
                                                       : std::nullopt;
}

bool comes_back(ByteView code) {
  const std::uint32_t word = word_at(code, 0).value_or(0);
  return parcel_at(code, 0) == 0x8002U + (std::uint32_t{kT0} << 7U) ||
         (is_jalr(word) && rd(word) == kZero && rs1(word) == kT0 && immediate_i(word) == 0);
}

class SaveRoutine {
 public:
  // Whether one more instruction is nothing but a part of such a routine.
  bool take(const Instruction& instruction, ByteView code) {
    if (const auto shift = shift_of_count(code)) {
      count_ = count_ ? std::optional(*count_ << *shift) : std::nullopt;
      return count_.has_value();
    }
    return std::ranges::all_of(instruction.list(),
                               [&](const Effect& effect) { return apply(effect); });
  }

  // The stack pointer comes first, so that the places count from what it is behind the call.
  bool put(Instruction& out) const {
    if (stack_pointer_ >= 0 || saved_.empty()) {
      return false;
    }
    Effects effects(out);
    effects.set(kSp, kSp, stack_pointer_);
    for (auto each = saved_.rbegin(); each != saved_.rend(); ++each) {
      if (out.effect_count < out.effects.size()) {  // there is no room for 13
        effects.store(kSp, each->place - stack_pointer_, each->what);
      }
    }
    return true;
  }

 private:
  struct Saved {
    std::int64_t place = 0;  // from the stack pointer before the call, bytes
    Register what = 0;
  };

  bool apply(const Effect& effect) {
    const bool on_stack = effect.destination == kSp && effect.source == kSp;
    if (effect.kind == Kind::set && on_stack) {
      stack_pointer_ += effect.offset;
    } else if (effect.kind == Kind::constant && effect.destination == kT1) {
      count_ = effect.offset;
    } else if ((effect.kind == Kind::add || effect.kind == Kind::subtract) && on_stack &&
               effect.index == kT1 && count_) {
      stack_pointer_ += effect.kind == Kind::add ? *count_ : -*count_;
    } else if (effect.kind == Kind::store && effect.destination == kSp) {
      saved_.push_back({stack_pointer_ + effect.offset, effect.source});
    } else {
      return false;
    }
    return true;
  }

  std::int64_t stack_pointer_ = 0;  // from what it was before the call, bytes
  std::optional<std::int64_t> count_{};
  std::vector<Saved> saved_{};
};

}  // namespace

bool read_save_routine(InstructionDecoder& decoder, const CodeReader& around, Address address,
                       Instruction& out) {
  if (!around) {
    return false;
  }
  SaveRoutine routine;
  for (unsigned steps = 0; steps < kLongest; ++steps) {
    std::array<std::byte, kWidth> bytes{};
    const auto read = std::span(bytes).first(std::min(around(address, bytes), bytes.size()));
    const ByteView code(read, Endian::little);
    const auto instruction = decoder.decode(code, address);
    if (!instruction) {
      return false;
    }
    if (instruction->flow == Flow::indirect_jump && comes_back(code)) {
      return routine.put(out);
    }
    if (instruction->flow == Flow::jump) {
      address = *instruction->target;
    } else if (instruction->flow == Flow::next && routine.take(*instruction, code)) {
      address += instruction->size;
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace whocall::riscv
