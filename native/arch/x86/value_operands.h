// The operands of one decoded x86 instruction as values that it reads.
#pragma once

#include <algorithm>

#include "arch/value_flow.h"
#include "arch/x86/library_handle.h"

namespace whocall::x86 {

class ValueOperands : protected LibraryHandle {
 protected:
  using From = ValueWrite::From;
  using LibraryHandle::LibraryHandle;

  // A register, whatever part of it; kNoRegister for vectors and the like.
  [[nodiscard]] Register any_register(const cs_x86_op& op) const {
    return op.type == X86_OP_REG ? number(op.reg) : kNoRegister;
  }
  [[nodiscard]] static bool is_high_byte(const cs_x86_op& op) {
    return op.reg == X86_REG_AH || op.reg == X86_REG_BH || op.reg == X86_REG_CH ||
           op.reg == X86_REG_DH;
  }
  // Whether writing it leaves nothing of the register as it was.
  [[nodiscard]] bool fills(const cs_x86_op& op) const { return op.size >= 4; }

  [[nodiscard]] ValueAddress address(const cs_x86_op& op) const {
    ValueAddress out;
    out.offset = op.mem.disp;
    out.known = op.mem.segment == X86_REG_INVALID;
    if (op.mem.base == X86_REG_RIP || op.mem.base == X86_REG_EIP) {
      out.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(out.offset) +
                                             decoded_->address + decoded_->size);
    } else if (op.mem.base != X86_REG_INVALID) {
      out.base = number(op.mem.base);
    }
    if (has_index(op)) {
      out.index = number(op.mem.index);
      out.scale = static_cast<std::uint8_t>(op.mem.scale);
    }
    return out;
  }

  static void note(ValueFlow& out, Register number, unsigned size) {
    if (number == kNoRegister || size == 0) {
      return;
    }
    const auto known = std::ranges::find(out.reads, number, &ValueFlow::Read::number);
    const auto bytes = static_cast<std::uint8_t>(size);
    if (known == out.reads.end()) {
      out.reads.push_back({number, bytes});
    } else {
      known->size = std::max(known->size, bytes);
    }
  }
  void note_address(ValueFlow& out, const ValueAddress& place) const {
    const auto size = static_cast<unsigned>(word());
    note(out, place.base.value_or(kNoRegister), size);
    note(out, place.index.value_or(kNoRegister), size);
  }
  // `general`: not for a vector register or the x87's.
  void note_load(ValueFlow& out, const cs_x86_op& op, bool general) const {
    if (op.mem.segment == X86_REG_INVALID) {
      out.loads.push_back({address(op), op.size, general});
    }
  }
  void note_operand(ValueFlow& out, const cs_x86_op& op) const {
    if (op.type == X86_OP_REG) {
      note(out, any_register(op), op.size);
    } else if (op.type == X86_OP_MEM) {
      note_address(out, address(op));
      note_load(out, op, true);
    }
  }
  void read_operands(ValueFlow& out) const {
    for (std::size_t i = 0; i < operand_count(); ++i) {
      note_operand(out, operand(i));
    }
  }

  // What an operand gives that is read.
  [[nodiscard]] ValueWrite value_of(ValueFlow& out, const cs_x86_op& op) const {
    ValueWrite value;
    value.size = op.size;
    if (op.type == X86_OP_IMM) {
      value.from = From::constant;
      value.number = op.imm;
    } else if (op.type == X86_OP_REG && any_register(op) != kNoRegister) {
      note(out, any_register(op), op.size);
      value.from = is_high_byte(op) ? From::unknown : From::reg;
      value.source = any_register(op);
    } else if (op.type == X86_OP_MEM) {
      value.place = address(op);
      note_address(out, value.place);
      note_load(out, op, true);
      value.from = value.place.known ? From::memory : From::unknown;
    }
    return value;
  }

  // Bytes of a general register's part.
  [[nodiscard]] unsigned size_of(x86_reg reg) const {
    const x86_reg head = family_head(reg);
    for (const Family& family : kFamilies) {
      if (family.full == head) {
        return 8;
      }
      const auto part = std::ranges::find(family.parts, head);
      if (part != family.parts.end()) {
        return 4U >> (part - family.parts.begin());
      }
    }
    return 0;
  }
};

}  // namespace whocall::x86
