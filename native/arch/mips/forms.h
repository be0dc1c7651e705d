// One instruction word of MIPS.
#pragma once

#include "arch/instruction.h"
#include "arch/mips/dialect.h"

namespace whocall::mips {

struct Form {
  Form(const Dialect& of, Address at) : dialect_(of), address_(at) {}

  // What the word does, without its delay slot; false for what is no instruction.
  bool read(std::uint32_t word, Instruction& out);

  bool has_slot = false;   // the next instruction is run before this one goes anywhere
  bool is_likely = false;  // but only where it is taken

 private:
  [[nodiscard]] unsigned field(unsigned shift) const { return word_ >> shift & 31U; }
  [[nodiscard]] Register rs() const { return static_cast<Register>(field(21)); }
  [[nodiscard]] Register rt() const { return static_cast<Register>(field(16)); }
  [[nodiscard]] Register rd() const { return static_cast<Register>(field(11)); }
  [[nodiscard]] std::int64_t immediate() const { return static_cast<std::int16_t>(word_); }

  bool read_special();
  bool read_register_immediate();
  bool read_special_3();
  bool read_coprocessor();
  bool read_memory(unsigned opcode);
  bool read_branch(unsigned opcode);

  bool clobber(Register number);
  bool constant(Register destination, std::int64_t value);
  bool set(Register destination, Register source, std::int64_t offset);
  bool add(bool wide);
  bool sum(Effect::Kind kind);
  bool load(bool whole);
  bool store(bool whole, std::int64_t words = 1);
  bool branch(Instruction::Flow flow, bool likely);
  bool jump(Instruction::Flow flow);
  bool stop(bool returns);

  Dialect dialect_;
  Address address_;
  std::uint32_t word_ = 0;
  Instruction* out_ = nullptr;
};

}  // namespace whocall::mips
