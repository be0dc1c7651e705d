// One x86 instruction read byte by byte: prefixes, operands, immediate values; and the effects that
// many instructions share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/instruction.h"
#include "arch/x86/families.h"

namespace whocall::x86 {

inline constexpr std::size_t kLongestForm = 24;  // bytes that may be looked at

using FormBytes = std::array<std::uint8_t, kLongestForm>;

// What ModRM, SIB and displacement tell.
struct FormOperands {
  unsigned reg = 0;  // the number in the reg field: a register, or what a group does
  unsigned rm = 0;   // the other register, where it is one
  bool in_memory = false;
  Register base = kNoRegister;   // of the memory operand; also for none and rip
  Register index = kNoRegister;  // kNoRegister: none
  std::uint8_t scale = 0;
  std::int32_t displacement = 0;  // bytes
};

class FormReader {
 protected:
  FormReader(const FormBytes& bytes, Address address, Dialect dialect)
      : bytes_(bytes),
        address_(address),
        is_64_(dialect != Dialect::i386),
        short_pointers_(dialect == Dialect::x32) {}

  // False when there are too many, or some that contradict each other.
  bool read_prefixes();
  // ModRM and what follows it; always true, as most forms have nothing more to ask.
  bool read_operands();

  bool skip(std::size_t size) {
    at_ += size;
    return true;
  }
  std::int32_t signed_byte() { return static_cast<std::int8_t>(bytes_[at_++]); }
  std::int32_t signed_word() {
    std::uint32_t raw = 0;
    for (unsigned i = 0; i < 4; ++i) {
      raw |= std::uint32_t{bytes_[at_++]} << 8 * i;
    }
    return static_cast<std::int32_t>(raw);
  }
  [[nodiscard]] std::size_t immediate_size() const { return narrow_ ? 2 : 4; }
  std::int32_t signed_immediate() { return narrow_ ? (at_ += 2, 0) : signed_word(); }

  [[nodiscard]] Register register_number(unsigned number) const {
    const Family& family = kFamilies[number];
    return is_64_ ? family.number64 : family.number32;
  }
  [[nodiscard]] Register sp() const { return register_number(4); }
  [[nodiscard]] std::int64_t word() const { return is_64_ ? 8 : 4; }

  bool branch(Instruction& out, std::uint8_t opcode, std::int32_t distance) const {
    using Flow = Instruction::Flow;
    out.flow = opcode % 16 == 5 ? Flow::branch_if_unequal : Flow::branch;
    return aim(out, distance);
  }

  // The distance counts from the instruction's end, which was read last.
  bool aim(Instruction& out, std::int32_t distance) const {
    const Address target = address_ + at_ + static_cast<Address>(std::int64_t{distance});
    out.target = is_64_ ? target : target & 0xffffffff;
    return true;
  }

  static bool stop(Instruction& out, bool returns) {
    out.flow = Instruction::Flow::stop;
    out.returns = returns;
    return true;
  }

  bool clobber(Instruction& out, unsigned number) const {
    out.add({Effect::Kind::clobber, register_number(number)});
    return true;
  }
  bool clobber_rm(Instruction& out, bool bytes) const {
    return operands_.in_memory || clobber(out, bytes ? byte_register(operands_.rm) : operands_.rm);
  }

  // Without REX, the numbers from 4 on name the second byte of the first four registers.
  [[nodiscard]] unsigned byte_register(unsigned number) const {
    return rex_ == 0 && number >= 4 ? number - 4 : number;
  }

  const FormBytes& bytes_;
  Address address_;
  bool is_64_;
  bool short_pointers_;
  std::size_t at_ = 0;
  bool narrow_ = false;      // 66: operands of 16 bits, or packed doubles
  bool nop_only_ = false;    // prefixes that only long nops have
  std::uint8_t repeat_ = 0;  // F2 or F3
  unsigned rex_ = 0;
  bool whole_ = false;          // operands have the size of a word
  bool address_sized_ = false;  // operands have the size of a word or a pointer
  FormOperands operands_;
};

}  // namespace whocall::x86
