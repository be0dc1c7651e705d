// The operands of one decoded x86 instruction, in the words of the analysis.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>

#include "arch/instruction.h"
#include "arch/x86/families.h"

namespace whocall::x86 {

class Operands {
 protected:
  explicit Operands(Dialect dialect)
      : is_64_(dialect != Dialect::i386), short_pointers_(dialect == Dialect::x32) {}

  [[nodiscard]] const cs_x86& x86() const { return decoded_->detail->x86; }
  [[nodiscard]] const cs_x86_op& operand(std::size_t index) const { return x86().operands[index]; }
  [[nodiscard]] std::size_t operand_count() const { return x86().op_count; }
  [[nodiscard]] Register sp() const { return is_64_ ? 7 : 4; }
  [[nodiscard]] Register fp() const { return is_64_ ? 6 : 5; }
  [[nodiscard]] std::int64_t word() const { return is_64_ ? 8 : 4; }
  // Bytes that a push or pop moves the stack pointer: whole words, whatever the operand, segment
  // registers too, unless the prefix of the operand size says two bytes.
  [[nodiscard]] std::int64_t pushed() const { return x86().prefix[2] == 0x66 ? 2 : word(); }

  [[nodiscard]] Register number(x86_reg reg) const { return family_number(reg, is_64_); }

  // The number of an operand that is a whole register of the word size.
  [[nodiscard]] Register whole_register(const cs_x86_op& op) const {
    return op.type == X86_OP_REG && op.size == word() ? number(op.reg) : kNoRegister;
  }

  // The same, or a part of one that has the size of a pointer.
  [[nodiscard]] Register address_register(const cs_x86_op& op) const {
    const bool is_address = op.type == X86_OP_REG && short_pointers_ && op.size == 4;
    return is_address ? number(op.reg) : whole_register(op);
  }

  // Base of a memory operand without segment; kNoRegister for other forms.
  [[nodiscard]] Register any_base(const cs_x86_op& op) const {
    const bool based = op.type == X86_OP_MEM && op.mem.segment == X86_REG_INVALID;
    return based && op.mem.base != X86_REG_INVALID ? number(op.mem.base) : kNoRegister;
  }
  // The same for operands without index.
  [[nodiscard]] Register plain_base(const cs_x86_op& op) const {
    return op.type == X86_OP_MEM && has_index(op) ? kNoRegister : any_base(op);
  }
  // The same for lea, which reads no memory: a segment plays no part. Assemblers for i386 pad with
  // lea %cs:0(%esi,%eiz,1),%esi too, also in the middle of functions: who takes that for a new
  // value has lost the caller's esi.
  [[nodiscard]] Register base_of_sum(const cs_x86_op& op) const {
    const bool plain = op.mem.base != X86_REG_INVALID && !has_index(op);
    return plain ? number(op.mem.base) : kNoRegister;
  }
  [[nodiscard]] static bool has_index(const cs_x86_op& op) {
    const auto index = op.mem.index;  // eiz and riz: encoded, but none
    return index != X86_REG_INVALID && index != X86_REG_EIZ && index != X86_REG_RIZ;
  }
  // A load or store by way of the memory operand `op`.
  [[nodiscard]] Effect indexed(Effect effect, const cs_x86_op& op) const {
    if (has_index(op)) {
      effect.index = number(op.mem.index);
      effect.scale = static_cast<std::uint8_t>(op.mem.scale);
    }
    return effect;
  }

  bool is_64_;
  bool short_pointers_;
  cs_insn* decoded_ = nullptr;
};

}  // namespace whocall::x86
