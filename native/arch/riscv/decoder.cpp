#include "arch/riscv/decoder.h"

#include "arch/assembly_text.h"
#include "arch/library_operation.h"
#include "arch/riscv/effects.h"
#include "arch/riscv/expanded.h"
#include "arch/riscv/fields.h"
#include "arch/riscv/save_routine.h"
#include "base/hex.h"

namespace whocall::riscv {
namespace {

using Flow = Instruction::Flow;

// An instruction of 32 bits, by its major opcode.
class WordReader {
 public:
  WordReader(std::uint32_t word, Address address, Instruction& out)
      : word_(word), address_(address), out_(out), effects_(out) {}

  bool read() {
    switch (opcode(word_)) {
      case kLui:
        effects_.constant(rd(word_), immediate_u(word_));
        return true;
      case kAuipc:
        out_.landing_pad = is_landing_pad(word_);
        effects_.clobber(rd(word_));
        return true;
      case kJal:
        effects_.jump_to(rd(word_), address_ + static_cast<Address>(immediate_j(word_)));
        return true;
      case kJalr:
        effects_.jump_by_register(rd(word_), rs1(word_), immediate_i(word_));
        return funct3(word_) == 0;
      case 0x63:  // beq and its kin
        out_.flow = Flow::branch;
        out_.target = address_ + static_cast<Address>(immediate_b(word_));
        return funct3(word_) != 2 && funct3(word_) != 3;
      case kOpImm:
      case 0x1b:
        immediates();
        return true;
      case 0x33:
      case 0x3b:
        registers();
        return true;
      default:
        return memory() || others();
    }
  }

 private:
  void immediates() {
    const bool whole = opcode(word_) == kOpImm;
    if (funct3(word_) != 0) {
      effects_.clobber(rd(word_));
    } else if (whole) {
      out_.padding = rd(word_) == kZero && rs1(word_) == kZero;  // with a number: a hint
      effects_.set(rd(word_), rs1(word_), immediate_i(word_));
    } else {
      effects_.set_word(rd(word_), rs1(word_), immediate_i(word_));
    }
  }

  void registers() {
    const bool whole = opcode(word_) == 0x33 && funct3(word_) == 0;
    if (whole && funct7(word_) == 0) {
      effects_.add(rd(word_), rs1(word_), rs2(word_));
    } else if (whole && funct7(word_) == 0x20) {
      effects_.subtract(rd(word_), rs1(word_), rs2(word_));
    } else {
      effects_.clobber(rd(word_));
    }
  }

  bool memory() {
    switch (opcode(word_)) {
      case kLoad:
        if (is_ld(word_)) {
          effects_.load(rd(word_), rs1(word_), immediate_i(word_));
        } else {
          effects_.clobber(rd(word_));
        }
        return true;
      case 0x23:  // sb, sh, sw, sd
        if (funct3(word_) == 3) {
          effects_.store(rs1(word_), immediate_s(word_), rs2(word_));
        } else {
          effects_.store_other(rs1(word_), immediate_s(word_));
        }
        return funct3(word_) < 4;
      case 0x27: {  // of floating point and vector registers
        const bool scalar = funct3(word_) >= 1 && funct3(word_) <= 4;
        effects_.store_other(rs1(word_), scalar ? immediate_s(word_) : 0);
        return true;
      }
      case 0x2f:  // lr, sc and the atomic operations
        effects_.clobber(rd(word_));
        effects_.store_other(rs1(word_), 0);
        return true;
      case 0x07:  // floating point and vector registers
      case 0x0f:  // fence
        return true;
      default:
        return false;
    }
  }

  bool others() {
    switch (opcode(word_)) {
      case 0x73:
        return system();
      case 0x43:  // the four multiplications with addition
      case 0x47:
      case 0x4b:
      case 0x4f:
        return true;
      case 0x53:
        floating_point();
        return true;
      case 0x57:
        vectors();
        return true;
      default:
        return false;
    }
  }

  // ecall comes back with a result in a0; ebreak does not come back.
  bool system() {
    if (funct3(word_) != 0) {
      effects_.clobber(rd(word_));  // control and status registers
      return funct3(word_) != 4;
    }
    if (word_ == 0x00000073) {
      effects_.clobber(kA0);
      return true;
    }
    out_.flow = Flow::stop;
    return word_ == 0x00100073 || word_ == 0x30200073 || word_ == 0x10200073;
  }

  // Comparisons, conversions and moves into general registers.
  void floating_point() {
    const std::uint32_t operation = bits(word_, 27, 5);
    if (operation == 0x14 || operation == 0x18 || operation == 0x1c) {
      effects_.clobber(rd(word_));
    }
  }

  // vsetvl and its kin, and what counts or moves elements into general registers.
  void vectors() {
    const bool configures = funct3(word_) == 7;
    const bool moves = funct3(word_) == 2 && bits(word_, 26, 6) == 0x10;
    if (configures || moves) {
      effects_.clobber(rd(word_));
    }
  }

  std::uint32_t word_;
  Address address_;
  Instruction& out_;
  Effects effects_;
};

bool read_far_jump(std::uint32_t first, std::uint32_t second, Address address, Instruction& out) {
  if (!is_far_jump(first, second)) {
    return false;
  }
  Effects effects(out);
  effects.clobber(rd(first));
  effects.jump_to(rd(second), far_target(first, second, address));
  out.size = 2 * kWidth;
  return true;
}

}  // namespace

std::optional<Instruction> Decoder::decode(ByteView code, Address address) {
  Instruction out;
  const auto parcel = parcel_at(code, 0);
  if (parcel && is_compressed(*parcel)) {
    const auto word = expanded(*parcel);
    out.size = kCompressed;
    return word && WordReader(*word, address, out).read() ? std::optional(out) : std::nullopt;
  }
  const auto word = word_at(code, 0);
  if (!word || !is_word(*word)) {
    return std::nullopt;
  }
  const auto next = word_at(code, kWidth);
  if (next && read_far_jump(*word, *next, address, out)) {
    read_saving_call(out);
    return out;
  }
  out.size = kWidth;
  if (!WordReader(*word, address, out).read()) {
    return std::nullopt;
  }
  read_saving_call(out);
  return out;
}

void Decoder::read_saving_call(Instruction& call) const {
  const auto effects = call.list();
  const bool saves = call.flow == Flow::call && call.target && !effects.empty() &&
                     effects.back().kind == Effect::Kind::clobber &&
                     effects.back().destination == kSp;
  Instruction read;
  Decoder alone;
  if (saves && read_save_routine(alone, around_, *call.target, read)) {
    call.effects = read.effects;
    call.effect_count = read.effect_count;
  }
}

// The library knows RISC-V from its fifth version on.
#if CS_API_MAJOR >= 5
namespace {

constexpr auto kRiscvMode = static_cast<cs_mode>(CS_MODE_RISCV64 | CS_MODE_RISCVC);

// Folklore. Situation: the library tells memory that a compressed instruction accesses as a number
// and a register. Example: `c.sw a0, 0(a3)`, where `sw a0, 0(a3)` has an operand in memory. Remedy:
// no other compressed instruction ends in those two; csrrw, which does, has four bytes.
void join_memory(Operation& operation) {
  constexpr std::uint8_t kCompressed = 2;  // bytes
  std::vector<Operand>& all = operation.operands;
  if (operation.size == kCompressed && all.size() == 3 && all[1].kind == Operand::Kind::immediate &&
      all[2].kind == Operand::Kind::reg) {
    all[1].kind = Operand::Kind::memory;
    all[1].reg = all[2].reg;
    all.pop_back();
  }
}

}  // namespace

std::string Decoder::text(ByteView code, Address address) {
  return assembly_text(CS_ARCH_RISCV, kRiscvMode, code, address);
}

std::optional<Operation> Decoder::operation(ByteView code, Address address) {
  auto found = library_operation(CS_ARCH_RISCV, kRiscvMode, code, address);
  if (found) {
    join_memory(*found);
  }
  return found;
}
#else
// As assemblers take what they have no word for.
std::string Decoder::text(ByteView code, Address address) {
  const auto instruction = decode(code, address);
  if (!instruction) {
    return {};
  }
  const std::uint32_t parcel = parcel_at(code, 0).value_or(0);
  return ".insn " + hex(is_compressed(parcel) ? parcel : word_at(code, 0).value_or(0));
}

std::optional<Operation> Decoder::operation(ByteView /*code*/, Address /*address*/) {
  return std::nullopt;
}
#endif

}  // namespace whocall::riscv
