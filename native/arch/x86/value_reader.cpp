#include "arch/x86/value_reader.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>

#include "arch/x86/value_operands.h"

namespace whocall::x86 {
namespace {

class Reader final : public ValueReader, private ValueOperands {
 public:
  explicit Reader(Dialect dialect) : ValueOperands(dialect) {}

  std::optional<ValueFlow> read(ByteView code, Address address) override {
    if (!decode_at(code, address)) {
      return std::nullopt;
    }
    ValueFlow out;
    describe(out);
    return out;
  }

  [[nodiscard]] std::span<const Register> results() const override {
    return is_64_ ? kResults64 : kResults32;
  }

 private:
  static constexpr std::array<Register, 2> kResults64 = {0, 1};  // rax, rdx
  static constexpr std::array<Register, 2> kResults32 = {0, 2};  // eax, edx

  void describe(ValueFlow& out) const {
    switch (decoded_->id) {
      case X86_INS_NOP:
        return;
      case X86_INS_MOV:
      case X86_INS_MOVABS:
      case X86_INS_MOVZX:
        return move(out, false);
      case X86_INS_MOVSX:
      case X86_INS_MOVSXD:
        return move(out, true);
      case X86_INS_CDQE:
        return widen_accumulator(out);
      case X86_INS_LEA:
        return lea(out);
      case X86_INS_PUSH:
        return push(out);
      case X86_INS_POP:
        return pop(out);
      case X86_INS_LEAVE:
        return leave(out);
      case X86_INS_ADD:
      case X86_INS_SUB:
      case X86_INS_INC:
      case X86_INS_DEC:
        return add(out);
      case X86_INS_XOR:
        return clear_or(out);
      case X86_INS_OR:
        return set_all_bits_or(out);
      case X86_INS_SBB:
        return borrow_or(out);
      case X86_INS_TEST:  // of al and eax the library says that they are written
      case X86_INS_CMP:
        return read_operands(out);
      case X86_INS_CALL:  // what it leaves is told by the conventions of calls
        return call(out);
      default:
        return other(out);
    }
  }

  // Leaves it in the operand.
  void leave_in(ValueFlow& out, const cs_x86_op& op, ValueWrite value) const {
    if (op.type == X86_OP_MEM) {
      value.stored_at = address(op);
      value.stored_size = op.size;
      note_address(out, value.stored_at);
    } else if (any_register(op) != kNoRegister) {
      value.destination = any_register(op);
      if (!fills(op)) {
        value = is_high_byte(op) ? unknown(*value.destination) : value;
        value.only_low = op.size;
      } else if (op.size < word()) {
        value = narrowed(value, op.size);
      }
    } else {
      return;
    }
    out.writes.push_back(value);
  }

  // What is left of it in a register that has all its other bits cleared.
  static ValueWrite narrowed(ValueWrite value, std::uint8_t size) {
    if (value.from == From::constant) {
      value.number = static_cast<std::int64_t>(static_cast<std::uint32_t>(value.number));
    } else if (value.size > size) {
      value.size = size;
    } else if (value.is_signed && value.size < size) {  // and cleared above that
      value.from = From::unknown;
    }
    return value;
  }

  static ValueWrite unknown(Register destination) {
    ValueWrite value;
    value.destination = destination;
    return value;
  }

  void move(ValueFlow& out, bool with_sign) const {
    ValueWrite value = value_of(out, operand(1));
    value.is_signed = with_sign;
    leave_in(out, operand(0), value);
  }

  void widen_accumulator(ValueFlow& out) const {
    ValueWrite value;
    value.from = From::reg;
    value.size = 4;
    value.is_signed = true;
    value.destination = 0;
    note(out, 0, 4);
    out.writes.push_back(value);
  }

  void lea(ValueFlow& out) const {
    ValueWrite value;
    value.from = From::address;
    value.place = address(operand(1));
    value.place.known = true;  // nothing is read: a segment plays no part
    value.size = operand(0).size;
    note(out, value.place.base.value_or(kNoRegister), operand(0).size);
    note(out, value.place.index.value_or(kNoRegister), operand(0).size);
    leave_in(out, operand(0), value);
  }

  void move_sp(ValueFlow& out, std::int64_t by) const { put_sum(out, sp(), sp(), by); }

  void put_sum(ValueFlow& out, Register destination, Register base, std::int64_t offset) const {
    ValueWrite value;
    value.from = From::address;
    value.size = static_cast<std::uint8_t>(word());
    value.place.base = base;
    value.place.offset = offset;
    value.destination = destination;
    out.writes.push_back(value);
  }

  // A register that is pushed is saved; it may be for nothing but the stack's alignment.
  void push(ValueFlow& out) const {
    ValueFlow read;
    ValueWrite value = value_of(read, operand(0));
    if (operand(0).type == X86_OP_MEM) {
      out.reads = read.reads;
      out.loads = read.loads;
    }
    const bool by_sp = value.from == From::memory && value.place.base == sp();
    if (value.from == From::reg && value.source == sp()) {
      value.from = From::unknown;
    }
    move_sp(out, -pushed());
    if (by_sp) {
      value.place.offset += pushed();
    }
    value.size = value.from == From::constant ? static_cast<std::uint8_t>(word()) : value.size;
    value.stored_at.base = sp();
    value.stored_size = static_cast<std::uint8_t>(pushed());
    out.writes.push_back(value);
  }

  void pop(ValueFlow& out) const {
    ValueWrite value;
    value.from = From::memory;
    value.size = static_cast<std::uint8_t>(pushed());
    value.place.base = sp();
    if (any_register(operand(0)) == sp()) {
      out.writes.push_back(unknown(sp()));
      return;
    }
    leave_in(out, operand(0), value);
    move_sp(out, pushed());
  }

  void leave(ValueFlow& out) const {
    put_sum(out, sp(), fp(), word());
    ValueWrite value;
    value.from = From::memory;
    value.size = static_cast<std::uint8_t>(word());
    value.place.base = sp();
    value.place.offset = -word();
    value.destination = fp();
    out.writes.push_back(value);
  }

  void add(ValueFlow& out) const {
    const bool by_one = decoded_->id == X86_INS_INC || decoded_->id == X86_INS_DEC;
    const bool less = decoded_->id == X86_INS_SUB || decoded_->id == X86_INS_DEC;
    const cs_x86_op& to = operand(0);
    const Register destination = any_register(to);
    if (destination == kNoRegister || !fills(to) || (!by_one && operand(1).type != X86_OP_IMM)) {
      return less && !by_one && same_register() ? clear(out) : other(out);
    }
    const std::int64_t amount = by_one ? 1 : operand(1).imm;
    note(out, destination, to.size);
    ValueWrite value;
    value.from = From::address;
    value.size = to.size;
    value.place.base = destination;
    value.place.offset = less ? -amount : amount;
    value.destination = destination;
    out.writes.push_back(value);
  }

  [[nodiscard]] bool same_register() const {
    return operand_count() == 2 && operand(0).type == X86_OP_REG && operand(1).type == X86_OP_REG &&
           operand(0).reg == operand(1).reg;
  }
  void clear(ValueFlow& out) const {
    ValueWrite value;
    value.from = From::constant;
    leave_in(out, operand(0), value);
  }
  void clear_or(ValueFlow& out) const { same_register() ? clear(out) : other(out); }

  // Folklore. Situation: short code sets a register without reading it, and says otherwise.
  // Example: or $-1,%eax; sbb %eax,%eax. Remedy: nothing is read.
  void set_all_bits_or(ValueFlow& out) const {
    const bool all = operand_count() == 2 && operand(0).type == X86_OP_REG &&
                     operand(1).type == X86_OP_IMM && operand(1).imm == -1;
    if (!all) {
      return other(out);
    }
    ValueWrite value;
    value.from = From::constant;
    value.number = -1;
    leave_in(out, operand(0), value);
  }
  void borrow_or(ValueFlow& out) const {
    if (!same_register() || !fills(operand(0))) {
      return other(out);
    }
    out.writes.push_back(unknown(any_register(operand(0))));
  }

  void call(ValueFlow& out) const {
    if (operand_count() == 1 && operand(0).type != X86_OP_IMM) {
      out.target = value_of(out, operand(0));
    }
  }

  // Whether its operands are none of integers.
  [[nodiscard]] bool is_foreign() const {
    constexpr std::array kGroups = {X86_GRP_FPU,  X86_GRP_MMX,   X86_GRP_SSE1,  X86_GRP_SSE2,
                                    X86_GRP_SSE3, X86_GRP_SSSE3, X86_GRP_SSE41, X86_GRP_SSE42,
                                    X86_GRP_AVX,  X86_GRP_AVX2};
    return std::ranges::any_of(
        kGroups, [this](unsigned group) { return cs_insn_group(handle_, decoded_, group); });
  }

  // Everything else: what it writes is computed.
  void other(ValueFlow& out) const {
    cs_regs read{};
    cs_regs written{};
    std::uint8_t read_count = 0;
    std::uint8_t written_count = 0;
    if (cs_regs_access(handle_, decoded_, read, &read_count, written, &written_count) !=
        CS_ERR_OK) {
      return;
    }
    for (std::size_t i = 0; i < read_count; ++i) {
      const auto reg = static_cast<x86_reg>(read[i]);
      note(out, number(reg), size_of(reg));
    }
    for (std::size_t i = 0; i < operand_count(); ++i) {
      const cs_x86_op& op = operand(i);
      if (any_register(op) != kNoRegister && (op.access & CS_AC_READ) != 0) {
        out.mixed.push_back(any_register(op));
      }
      if (op.type == X86_OP_MEM && (op.access & CS_AC_READ) != 0) {
        note_load(out, op, !is_foreign());
      }
      if (op.type == X86_OP_MEM && (op.access & CS_AC_WRITE) != 0) {
        ValueWrite value;
        value.stored_at = address(op);
        value.stored_size = op.size;
        out.writes.push_back(value);
      }
    }
    for (std::size_t i = 0; i < written_count; ++i) {
      const Register reg = number(static_cast<x86_reg>(written[i]));
      if (reg != kNoRegister) {
        out.writes.push_back(unknown(reg));
      }
    }
  }
};

}  // namespace

std::unique_ptr<ValueReader> make_value_reader_64(const CodeReader& /*around*/) {
  return std::make_unique<Reader>(Dialect::x86_64);
}
std::unique_ptr<ValueReader> make_value_reader_32(const CodeReader& /*around*/) {
  return std::make_unique<Reader>(Dialect::i386);
}

}  // namespace whocall::x86
