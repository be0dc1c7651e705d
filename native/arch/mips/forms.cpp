#include "arch/mips/forms.h"

namespace whocall::mips {
namespace {

using Flow = Instruction::Flow;
using Kind = Effect::Kind;

constexpr unsigned kOr = 0x25;  // of the functions of opcode 0

}  // namespace

bool Form::clobber(Register number) {
  if (number != kZero) {
    out_->add({Kind::clobber, number});
  }
  return true;
}

bool Form::constant(Register destination, std::int64_t value) {
  if (destination != kZero) {
    out_->add({Kind::constant, destination, 0, value});
  }
  return true;
}

bool Form::set(Register destination, Register source, std::int64_t offset) {
  if (source == kZero) {
    return constant(destination, offset);
  }
  if (destination != kZero) {
    out_->add({Kind::set, destination, source, offset});
  }
  return true;
}

// addu, daddu and or, which move registers where one operand is zero. Sums of 32 bits are no copies
// of registers of 64, unless addresses have 32.
bool Form::add(bool wide) {
  const bool copies = wide || !dialect_.wide_pointers;
  if (copies && rt() == kZero) {
    return set(rd(), rs(), 0);
  }
  if (!copies || rs() == kZero) {
    return copies ? set(rd(), rt(), 0) : clobber(rd());
  }
  return (word_ & 63U) == kOr ? clobber(rd()) : sum(Kind::add);
}

// addu or subu of two registers: frames too large for an immediate are made so.
bool Form::sum(Kind kind) {
  if (rd() != kZero) {
    out_->add({kind, rd(), rs(), 0, rt(), 1});
  }
  return true;
}

bool Form::load(bool whole) {
  if (!whole || rt() == kZero) {
    return clobber(rt());
  }
  out_->add({Kind::load, rt(), rs(), immediate()});
  return true;
}

bool Form::store(bool whole, std::int64_t words) {
  if (whole && rt() != kZero) {
    out_->add({Kind::store, rs(), rt(), immediate()});
    return true;
  }
  for (std::int64_t word = 0; word < words; ++word) {
    out_->add({Kind::store_other, rs(), 0, immediate() + 4 * word});
  }
  return true;
}

bool Form::branch(Flow flow, bool likely) {
  has_slot = true;
  is_likely = likely;
  out_->flow = flow;
  out_->target = address_ + 4 + static_cast<Address>(immediate() * 4);
  if (!dialect_.wide_pointers) {
    out_->target = *out_->target & 0xffffffff;
  }
  return true;
}

// Within the 256 MiB that the delay slot lies in.
bool Form::jump(Flow flow) {
  constexpr Address kRegion = 0x0fffffff;
  has_slot = true;
  out_->flow = flow;
  out_->target = ((address_ + 4) & ~kRegion) | (Address{word_ & 0x03ffffff} << 2U);
  return true;
}

bool Form::stop(bool returns) {
  out_->flow = Flow::stop;
  out_->returns = returns;
  return true;
}

bool Form::read(std::uint32_t word, Instruction& out) {
  word_ = word;
  out_ = &out;
  const unsigned opcode = word >> 26U;
  switch (opcode) {
    case 0x00:
      return read_special();
    case 0x01:
      return read_register_immediate();
    case 0x02:
      return jump(Flow::jump);
    case 0x03:
      return jump(Flow::call);
    case 0x08:  // addi, addiu
    case 0x09:
      return dialect_.wide_pointers && rs() != kZero ? clobber(rt()) : set(rt(), rs(), immediate());
    case 0x0a:  // slti, sltiu, andi, xori
    case 0x0b:
    case 0x0c:
    case 0x0e:
      return clobber(rt());
    case 0x0d:  // ori: the lower half of a constant, whose upper one lui has set
      return set(rt(), rs(), static_cast<std::uint16_t>(word_));
    case 0x0f:  // lui
      return constant(rt(), immediate() * 65536);
    case 0x18:  // daddi, daddiu
    case 0x19:
      return dialect_.wide_registers && set(rt(), rs(), immediate());
    case 0x1a:  // ldl, ldr
    case 0x1b:
      return clobber(rt());
    case 0x1c:  // mul, clz and their kin
      return clobber(rd());
    case 0x1d:  // jalx: to code of the other mode
      jump(Flow::call);
      out.target.reset();
      return true;
    case 0x1e:  // the vectors of MSA
      return true;
    case 0x1f:
      return read_special_3();
    default:
      break;
  }
  if (opcode < 0x08 || (opcode >= 0x14 && opcode < 0x18)) {
    return read_branch(opcode);
  }
  return opcode < 0x14 ? read_coprocessor() : read_memory(opcode);
}

bool Form::read_special() {
  const unsigned function = word_ & 63U;
  switch (function) {
    case 0x00:  // sll; of nothing by nothing (nop) or by one (ssnop)
      out_->padding = word_ == 0 || word_ == 0x40;
      return clobber(rd());
    case 0x08:  // jr
      has_slot = true;
      out_->flow = Flow::indirect_jump;
      return rs() != kRa || stop(true);
    case 0x09:  // jalr; with no link, the jr of release 6
      has_slot = true;
      out_->flow = rd() == kRa ? Flow::call : Flow::indirect_jump;
      if (rd() != kRa && rd() != kZero) {
        out_->flow = Flow::call;
        clobber(rd());
      }
      return rd() != kZero || rs() != kRa || stop(true);
    case 0x0c:  // syscall: its result and whether it failed
      clobber(kV0);
      return clobber(kA3);
    case 0x0d:  // break
      return stop(false);
    case 0x0f:  // sync, mthi, mtlo
    case 0x11:
    case 0x13:
      return true;
    case 0x21:  // addu
      return add(false);
    case 0x25:  // or
    case 0x2d:  // daddu
      return add(true);
    case 0x23:  // subu
      return dialect_.wide_pointers ? clobber(rd()) : sum(Kind::subtract);
    case 0x2f:  // dsubu
      return sum(Kind::subtract);
    case 0x34:  // teq: a trap for certain where both are the same
      return rs() != rt() || stop(false);
    default:
      break;
  }
  const bool traps = function >= 0x30 && function <= 0x36 && function != 0x35;
  return traps || clobber(rd());
}

bool Form::read_register_immediate() {
  const unsigned kind = rt();
  switch (kind) {
    case 0x00:  // bltz, bgez
    case 0x01:
      return branch(kind == 1 && rs() == kZero ? Flow::jump : Flow::branch, false);
    case 0x02:
    case 0x03:
      return branch(Flow::branch, true);
    case 0x10:  // bltzal; of zero: nal, which only asks for the pc
      branch(Flow::call, false);
      if (rs() == kZero) {
        out_->target = address_ + 8;
      }
      return true;
    case 0x11:  // bgezal; of zero: bal
      return branch(Flow::call, false);
    case 0x12:
    case 0x13:
      return branch(Flow::call, true);
    case 0x08:  // traps with an immediate
    case 0x09:
    case 0x0a:
    case 0x0b:
    case 0x0c:
    case 0x0e:
    case 0x1f:  // synci
      return true;
    default:
      return false;
  }
}

bool Form::read_branch(unsigned opcode) {
  const bool likely = opcode >= 0x14;
  const bool same = rs() == rt();
  switch (opcode & 7U) {
    case 4:  // beq; of a register with itself: b
      return branch(same ? Flow::jump : Flow::branch, likely && !same);
    case 5:  // bne
      if (!same && !likely) {
        out_->add({Kind::compare, rs(), rt()});
      }
      return branch(same || likely ? Flow::branch : Flow::branch_if_unequal, likely);
    default:  // blez, bgtz
      return rt() == kZero && branch(Flow::branch, likely);
  }
}

// Bit fields and bytes write rt or rd, by their kind; a wrong one of the two would be no harmless
// guess, as the other holds numbers of bits.
bool Form::read_special_3() {
  const unsigned function = word_ & 63U;
  const bool fields = function < 0x08 || function == 0x3b ||
                      (function >= 0x19 && function < 0x20) ||
                      (function >= 0x25 && function < 0x30) || function == 0x31;
  return clobber(fields ? rt() : rd());
}

bool Form::read_coprocessor() {
  const unsigned unit = word_ >> 26U & 3U;
  constexpr unsigned kBranch = 8;
  if (unit == 3) {  // COP1X
    return true;
  }
  if (unit != 0 && rs() == kBranch) {
    return branch(Flow::branch, (word_ >> 17U & 1U) != 0);
  }
  const bool reads = rs() < 4 || (unit == 0 && rs() == 0x0b);
  return !reads || clobber(rt());
}

bool Form::read_memory(unsigned opcode) {
  const bool wide = dialect_.wide_registers;
  switch (opcode) {
    case 0x23:  // lw
      return load(!wide);
    case 0x37:  // ld
      return wide && load(true);
    case 0x2b:  // sw
      return store(!wide);
    case 0x3f:  // sd
      return wide && store(true, 2);
    case 0x3d:  // sdc1, sdl, sdr
    case 0x2c:
    case 0x2d:
      return store(false, 2);
    case 0x38:  // sc, scd: whether it was stored
    case 0x3c:
      store(false);
      return clobber(rt());
    case 0x28:  // sb, sh, swl, swr, swc1
    case 0x29:
    case 0x2a:
    case 0x2e:
    case 0x39:
      return store(false);
    case 0x2f:  // cache, pref, loads of coprocessors
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x35:
    case 0x36:
      return true;
    default:
      return (opcode < 0x28 || opcode == 0x30 || opcode == 0x34) && clobber(rt());
  }
}

}  // namespace whocall::mips
