// What straight code of a function does with registers, as far as it tells where functions begin.
#pragma once

#include <bitset>

#include "arch/instruction.h"

namespace whocall {

// The register that results are returned in, by its DWARF number: 0 on all of x86.
inline constexpr Register kResult = 0;

// What the start of a function may not read before it writes it: registers that a caller keeps its
// own things in, and what calls return.
class UnreadRegisters {
 public:
  explicit UnreadRegisters(const Architecture& arch) : sp_(arch.registers.sp) {
    unread_.set(kResult);
    for (const Register each : arch.registers.callee_saved) {
      if (each < kRegisterLimit && each != sp_) {
        unread_.set(each);
      }
    }
  }

  // Whether an instruction uses one; what it writes may be read from then on.
  bool are_read_by(const Instruction& instruction) {
    bool reads = false;
    for (const Effect& effect : instruction.list()) {
      reads = reads || reads_one(effect);
      const bool writes = effect.kind != Effect::Kind::store &&
                          effect.kind != Effect::Kind::store_other &&
                          effect.kind != Effect::Kind::compare;
      if (writes && effect.destination < kRegisterLimit) {
        unread_.reset(effect.destination);
      }
    }
    return reads;
  }

 private:
  [[nodiscard]] bool has(Register each) const { return each < kRegisterLimit && unread_[each]; }

  [[nodiscard]] bool reads_one(const Effect& effect) const {
    switch (effect.kind) {
      case Effect::Kind::set:
        return has(effect.source);
      case Effect::Kind::add:
      case Effect::Kind::subtract:
      case Effect::Kind::load:
        return has(effect.source) || (effect.scale != 0 && has(effect.index));
      case Effect::Kind::store:  // saving one on the stack is what functions begin with
        return has(effect.destination) || (effect.destination != sp_ && has(effect.source));
      case Effect::Kind::store_other:
        return has(effect.destination);
      case Effect::Kind::compare:
        return has(effect.destination) || has(effect.source);
      case Effect::Kind::constant:
      case Effect::Kind::clobber:
        break;
    }
    return false;
  }

  Register sp_;
  std::bitset<kRegisterLimit> unread_;
};

// How a function leaves the stack to what it jumps to, as far as straight code shows.
class StackUse {
 public:
  explicit StackUse(const Architecture& arch)
      : sp_(arch.registers.sp), fp_(arch.registers.fp), pops_arguments_(arch.registers.size < 8) {}

  void begin() { *this = StackUse(sp_, fp_, pops_arguments_); }

  void pass(const Instruction& instruction) {
    bool pops = false;
    for (const Effect& effect : instruction.list()) {
      pops = pops || effect.kind == Effect::Kind::load;
      if (effect.destination == sp_ && effect.kind == Effect::Kind::set) {
        const bool higher = effect.source == sp_ ? effect.offset > 0 : effect.source == fp_;
        lowered_ = lowered_ || !higher;
        raised_ = higher && (pops || !pops_arguments_ || effect.source == fp_);
      }
    }
    raised_ = raised_ && instruction.flow == Instruction::Flow::next;
  }

  // Whether everything was given back just now.
  [[nodiscard]] bool is_given_back() const { return raised_; }
  [[nodiscard]] bool is_untouched() const { return !lowered_; }

 private:
  StackUse(Register sp, Register fp, bool pops_arguments)
      : sp_(sp), fp_(fp), pops_arguments_(pops_arguments) {}

  Register sp_;
  Register fp_;
  bool pops_arguments_;   // by adding to the stack pointer, behind calls
  bool lowered_ = false;  // since the start of the function
  bool raised_ = false;
};

}  // namespace whocall
