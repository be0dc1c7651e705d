#include "unwind/rows/expression.h"

#include <vector>

#include "base/byte_reader.h"
#include "rules/dwarf.h"

namespace whocall {
namespace {

constexpr unsigned kStepLimit = 10000;
constexpr std::size_t kStackLimit = 256;

// A stack machine that fails for good at the first misuse, as ByteReader does.
class Machine {
 public:
  Machine(ByteView expression, const ExpressionInput& input)
      : input_(input), code_(expression), mask_(input.arch.address_mask()) {
    if (input.initial) {
      push(*input.initial);
    }
  }

  std::optional<std::uint64_t> run() {
    for (unsigned step = 0; !code_.at_end() && step < kStepLimit; ++step) {
      execute(code_.u8());
      if (failed_ || !code_.ok()) {
        return std::nullopt;
      }
    }
    return code_.at_end() && code_.ok() && !stack_.empty() ? std::optional(stack_.back())
                                                           : std::nullopt;
  }

 private:
  void execute(std::uint8_t op) {
    if (op >= dw::OP_lit0 && op <= dw::OP_lit31) {
      push(op - dw::OP_lit0);
    } else if (op >= dw::OP_breg0 && op <= dw::OP_breg31) {
      push_register(static_cast<Register>(op - dw::OP_breg0), code_.sleb());
    } else if (!constant(op) && !shuffle(op) && !unary(op) && !jump(op)) {
      binary(op);
    }
  }

  bool constant(std::uint8_t op) {
    switch (op) {
      case dw::OP_addr:
        push(code_.fixed(input_.arch.abi.pointer_size));
        return true;
      case dw::OP_const1u:
        push(code_.u8());
        return true;
      case dw::OP_const1s:
        push_signed(code_.s8());
        return true;
      case dw::OP_const2u:
        push(code_.u16());
        return true;
      case dw::OP_const2s:
        push_signed(code_.s16());
        return true;
      case dw::OP_const4u:
        push(code_.u32());
        return true;
      case dw::OP_const4s:
        push_signed(code_.s32());
        return true;
      case dw::OP_const8u:
      case dw::OP_const8s:
        push(code_.u64());
        return true;
      case dw::OP_constu:
        push(code_.uleb());
        return true;
      case dw::OP_consts:
        push_signed(code_.sleb());
        return true;
      case dw::OP_bregx: {
        const auto number = code_.uleb();
        push_register(number < kRegisterLimit ? static_cast<Register>(number) : kRegisterLimit,
                      code_.sleb());
        return true;
      }
      case dw::OP_nop:
        return true;
      default:
        return false;
    }
  }

  bool shuffle(std::uint8_t op) {
    switch (op) {
      case dw::OP_dup:
        push(peek(0));
        return true;
      case dw::OP_drop:
        pop();
        return true;
      case dw::OP_over:
        push(peek(1));
        return true;
      case dw::OP_pick:
        push(peek(code_.u8()));
        return true;
      case dw::OP_swap: {
        const auto top = pop();
        const auto second = pop();
        push(top);
        push(second);
        return true;
      }
      case dw::OP_rot: {
        const auto top = pop();
        const auto second = pop();
        const auto third = pop();
        push(top);
        push(third);
        push(second);
        return true;
      }
      default:
        return false;
    }
  }

  bool unary(std::uint8_t op) {
    switch (op) {
      case dw::OP_deref:
        push_memory(pop(), input_.arch.abi.pointer_size);
        return true;
      case dw::OP_deref_size:
        push_memory(pop(), code_.u8());
        return true;
      case dw::OP_abs: {
        const auto value = pop();
        push(as_signed(value) < 0 ? 0 - value : value);
        return true;
      }
      case dw::OP_neg:
        push(0 - pop());
        return true;
      case dw::OP_not:
        push(~pop());
        return true;
      case dw::OP_plus_uconst:
        push(pop() + code_.uleb());
        return true;
      default:
        return false;
    }
  }

  bool jump(std::uint8_t op) {
    if (op != dw::OP_skip && op != dw::OP_bra) {
      return false;
    }
    const auto distance = code_.s16();
    if (op == dw::OP_skip || pop() != 0) {
      code_.seek(code_.offset() + static_cast<std::uint64_t>(distance));
    }
    return true;
  }

  void binary(std::uint8_t op) {
    const auto right = pop();
    const auto left = pop();
    const auto signed_left = as_signed(left);
    const auto signed_right = as_signed(right);
    switch (op) {
      case dw::OP_and:
        return push(left & right);
      case dw::OP_div:
        // INT64_MIN / -1 overflows; its two's complement answer is the negation.
        return signed_right == 0    ? fail()
               : signed_right == -1 ? push(0 - left)
                                    : push_signed(signed_left / signed_right);
      case dw::OP_mod:
        return right == 0 ? fail() : push(left % right);
      case dw::OP_minus:
        return push(left - right);
      case dw::OP_mul:
        return push(left * right);
      case dw::OP_or:
        return push(left | right);
      case dw::OP_plus:
        return push(left + right);
      case dw::OP_shl:
        return push(right < 64 ? left << right : 0);
      case dw::OP_shr:
        return push(right < 64 ? left >> right : 0);
      case dw::OP_shra:
        return push_signed(signed_left >> (right < 64 ? right : 63));
      case dw::OP_xor:
        return push(left ^ right);
      case dw::OP_eq:
        return push(left == right ? 1 : 0);
      case dw::OP_ge:
        return push(signed_left >= signed_right ? 1 : 0);
      case dw::OP_gt:
        return push(signed_left > signed_right ? 1 : 0);
      case dw::OP_le:
        return push(signed_left <= signed_right ? 1 : 0);
      case dw::OP_lt:
        return push(signed_left < signed_right ? 1 : 0);
      case dw::OP_ne:
        return push(left != right ? 1 : 0);
      default:
        return fail();
    }
  }

  [[nodiscard]] std::int64_t as_signed(std::uint64_t value) const {
    return input_.arch.abi.pointer_size == 4 ? static_cast<std::int32_t>(value)
                                             : static_cast<std::int64_t>(value);
  }

  void fail() { failed_ = true; }

  void push(std::uint64_t value) {
    if (stack_.size() >= kStackLimit) {
      return fail();
    }
    stack_.push_back(value & mask_);
  }
  void push_signed(std::int64_t value) { push(static_cast<std::uint64_t>(value)); }

  void push_register(Register number, std::int64_t offset) {
    const auto value = input_.registers.get(number);
    value ? push(*value + static_cast<std::uint64_t>(offset)) : fail();
  }

  void push_memory(Address address, unsigned size) {
    const auto value = input_.memory.read_unsigned(address, size, input_.arch.abi.endian);
    value ? push(*value) : fail();
  }

  std::uint64_t peek(std::size_t depth) {
    if (depth >= stack_.size()) {
      fail();
      return 0;
    }
    return stack_[stack_.size() - 1 - depth];
  }

  std::uint64_t pop() {
    const auto value = peek(0);
    if (!stack_.empty()) {
      stack_.pop_back();
    }
    return value;
  }

  const ExpressionInput& input_;
  ByteReader code_;
  Address mask_;
  std::vector<std::uint64_t> stack_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::uint64_t> evaluate(ByteView expression, const ExpressionInput& input) {
  return Machine(expression, input).run();
}

}  // namespace whocall
