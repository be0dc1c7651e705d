#include "unwind/analysis/return_flow.h"

#include <algorithm>
#include <array>

#include "unwind/rows/expression_writer.h"

namespace whocall {
namespace {

constexpr int kLongest = 96;  // instructions from the call to the return

// A value by what registers and memory hold when the call comes back.
struct Value {
  enum class Kind : std::uint8_t {
    unknown,
    in_register,  // base + offset
    in_word,      // the word at base + slot, + offset
    in_far_word,  // the word at (the word at base + slot) + offset
  };
  Kind kind = Kind::unknown;
  Register base = 0;
  std::int64_t slot = 0;    // bytes
  std::int64_t offset = 0;  // bytes
};

using ValueKind = Value::Kind;

class ReturnFlow {
 public:
  ReturnFlow(const ProcessImage& process, InstructionDecoder& decoder)
      : process_(process), arch_(*process.arch), decoder_(decoder) {
    const auto keep = [&](Register number) {
      if (number < kFollowedLimit) {
        values_.at(number) = {ValueKind::in_register, number, 0, 0};
      }
    };
    std::ranges::for_each(arch_.registers.callee_saved, keep);
    keep(arch_.registers.sp);
  }

  // Whether the code from `pc` on comes to a return.
  bool follow(Address pc) {
    using Flow = Instruction::Flow;
    for (int i = 0; i < kLongest; ++i) {
      std::vector<std::byte> room;
      const auto bytes = process_.memory->bytes_at(pc, kLongestLook, room);
      const auto instruction = decoder_.decode(ByteView(bytes, arch_.abi.endian), pc);
      if (!instruction || instruction->size == 0 || !instruction->is_whole) {
        return false;
      }
      if (instruction->flow == Flow::stop || instruction->flow == Flow::indirect_jump) {
        return instruction->returns && instruction->popped == 0;
      }
      std::ranges::for_each(instruction->list(), [&](const Effect& effect) { apply(effect); });
      if (instruction->flow == Flow::call) {
        forget_scratch();
      }
      const bool jumps = instruction->flow == Flow::jump && instruction->target;
      pc = jumps ? *instruction->target : pc + instruction->size;
    }
    return false;
  }

  [[nodiscard]] std::optional<UnwindRow> row(std::deque<std::vector<std::byte>>& arena) const {
    const Value sp = get(arch_.registers.sp);
    const std::int64_t pushed = arch_.frame.pushed_by_call;
    if (sp.kind != ValueKind::in_word) {
      return std::nullopt;
    }
    UnwindRow row;
    row.new_stack = true;
    row.return_address = arch_.registers.return_address;
    ExpressionWriter cfa(arena, arch_.abi.endian);
    cfa.base(sp.base, sp.slot).deref().plus(sp.offset + pushed);
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

 private:
  [[nodiscard]] Value get(Register number) const {
    return number < kFollowedLimit ? values_.at(number) : Value{};
  }

  void set(Register number, const Value& value) {
    if (number < kFollowedLimit) {
      values_.at(number) = value;
    }
  }

  void apply(const Effect& effect) {
    switch (effect.kind) {
      case Effect::Kind::set:
        set(effect.destination, moved(get(effect.source), effect.offset));
        return;
      case Effect::Kind::load:
        set(effect.destination,
            effect.scale == 0 ? word_at(moved(get(effect.source), effect.offset)) : Value{});
        return;
      case Effect::Kind::store:
      case Effect::Kind::store_other:
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

  static Value moved(Value value, std::int64_t offset) {
    value.offset += offset;
    return value.kind == ValueKind::in_far_word && value.offset != 0 ? Value{} : value;
  }

  static Value word_at(const Value& address) {
    switch (address.kind) {
      case ValueKind::in_register:
        return {ValueKind::in_word, address.base, address.offset, 0};
      case ValueKind::in_word:
        return {ValueKind::in_far_word, address.base, address.slot, address.offset};
      case ValueKind::unknown:
      case ValueKind::in_far_word:
        break;
    }
    return {};
  }

  void forget_scratch() {
    for (Register number = 0; number < kFollowedLimit; ++number) {
      const bool kept =
          number == arch_.registers.sp || std::ranges::find(arch_.registers.callee_saved, number) !=
                                              arch_.registers.callee_saved.end();
      values_.at(number) = kept ? values_.at(number) : Value{};
    }
  }

  // The rule of a register whose value on entry is where `number` is when the function returns.
  bool add(UnwindRow& row, Register number, std::deque<std::vector<std::byte>>& arena) const {
    const Value value = get(number);
    if (value.kind == ValueKind::in_register && value.offset == 0) {
      row.rules.push_back(
          {number, value.base == number ? RegisterRule::same() : RegisterRule::from(value.base)});
      return true;
    }
    const bool near = value.kind == ValueKind::in_word && value.offset == 0;
    if (!near && value.kind != ValueKind::in_far_word) {
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
  std::array<Value, kFollowedLimit> values_{};
};

}  // namespace

std::optional<UnwindRow> row_behind_call(Address pc, const ProcessImage& process,
                                         InstructionDecoder& decoder,
                                         std::deque<std::vector<std::byte>>& arena) {
  ReturnFlow flow(process, decoder);
  return flow.follow(pc) ? flow.row(arena) : std::nullopt;
}

}  // namespace whocall
