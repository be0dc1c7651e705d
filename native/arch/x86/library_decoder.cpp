#include "arch/x86/decoder.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "arch/x86/library_handle.h"
#include "arch/x86/vector.h"

namespace whocall::x86 {
namespace {

class LibraryDecoder final : public InstructionDecoder, private LibraryHandle {
 public:
  explicit LibraryDecoder(Dialect dialect) : LibraryHandle(dialect) {}

  std::optional<Instruction> decode(ByteView code, Address address) override {
    if (!decode_at(code, address)) {
      return is_open() ? unknown_to_the_library(code) : std::nullopt;
    }
    Instruction result;
    result.size = static_cast<std::uint8_t>(decoded_->size);
    const auto word = code.read<std::uint32_t>(0);
    result.landing_pad = word == 0xfa1e0ff3 || word == 0xfb1e0ff3;  // endbr64, endbr32
    describe(result);
    return result;
  }

  std::string text(ByteView code, Address address) override {
    if (!decode_at(code, address)) {
      return {};
    }
    const std::string operands = decoded_->op_str;
    return operands.empty() ? decoded_->mnemonic : decoded_->mnemonic + (" " + operands);
  }

 private:
  // A register that x86 has not: what moves from memory to memory, or both ways, goes by it.
  static constexpr Register kBetween = 39;
  static_assert(FollowedRegisters().has(kBetween));

  // Folklore. Situation: the library knows a part of AVX-512 only. Example: `kmovd %k0,%eax` in
  // glibc's strlen; the path would end there, and all behind it be unknown. Remedy: the encoding
  // tells the length.
  [[nodiscard]] std::optional<Instruction> unknown_to_the_library(ByteView code) const {
    const auto vector = read_vector_instruction(code, is_64_);
    if (!vector) {
      return std::nullopt;
    }
    Instruction result;
    result.size = vector->size;
    if (vector->written) {
      const Family& family = kFamilies.at(*vector->written);
      result.add({Effect::Kind::clobber, is_64_ ? family.number64 : family.number32});
    }
    return result;
  }

  void describe(Instruction& out) const {
    switch (decoded_->id) {
      case X86_INS_PUSH:
        return push(out, operand(0));
      case X86_INS_POP:
        return pop(out, operand(0));
      case X86_INS_PUSHF:
      case X86_INS_PUSHFQ:
      case X86_INS_PUSHFD:
        return move_sp(out, -pushed());
      case X86_INS_POPF:
      case X86_INS_POPFQ:
      case X86_INS_POPFD:
        return move_sp(out, pushed());
      case X86_INS_PUSHAL:
        return push_all(out);
      case X86_INS_POPAL:
        return pop_all(out);
      case X86_INS_LEAVE:
        out.add({Effect::Kind::set, sp(), fp(), 0});
        out.add({Effect::Kind::load, fp(), sp(), 0});
        return move_sp(out, word());
      case X86_INS_ENTER:
        return enter(out);
      case X86_INS_ADD:
      case X86_INS_SUB:
        return add(out);
      case X86_INS_LEA:
        return lea(out);
      case X86_INS_MOV:
        return move(out);
      case X86_INS_XCHG:
        return exchange(out);
      case X86_INS_CMP:
        return compare(out);
      case X86_INS_TEST:  // of al and eax the library says that they are written
        return;
      default:
        return flow(out);
    }
  }

  void move_sp(Instruction& out, std::int64_t delta) const {
    out.add({Effect::Kind::set, sp(), sp(), delta});
  }

  // A word that is pushed from memory goes by way of a register that x86 has not.
  void push(Instruction& out, const cs_x86_op& op) const {
    const bool from_stack = plain_base(op) == sp() && pushed() == word();
    if (from_stack) {
      out.add({Effect::Kind::load, kBetween, sp(), op.mem.disp});
    }
    move_sp(out, -pushed());
    const Register source = from_stack ? kBetween : whole_register(op);
    // `push %rsp` stores the old value; nobody saves it that way.
    if (source != kNoRegister && source != sp()) {
      out.add({Effect::Kind::store, sp(), source, 0});
    } else {
      out.add({Effect::Kind::store_other, sp(), 0, 0});
    }
    if (from_stack) {
      out.add({Effect::Kind::clobber, kBetween});
    }
  }

  void pop(Instruction& out, const cs_x86_op& op) const {
    const Register destination = whole_register(op);
    if (destination != kNoRegister) {
      out.add({Effect::Kind::load, destination, sp(), 0});
    } else if (op.type == X86_OP_REG && number(op.reg) != kNoRegister) {  // a part of it
      out.add({Effect::Kind::clobber, number(op.reg)});
    } else if (op.type == X86_OP_MEM) {
      return pop_into_memory(out, op);
    }
    if (destination != sp()) {
      move_sp(out, pushed());
    }
  }

  // Where the address is told by the stack pointer, by what that is afterwards. SBCL's functions
  // move their return address so: pop [rbp+8].
  void pop_into_memory(Instruction& out, const cs_x86_op& op) const {
    const bool whole = pushed() == word();
    if (whole) {
      out.add({Effect::Kind::load, kBetween, sp(), 0});
    }
    move_sp(out, pushed());
    const Register base = plain_base(op);  // else the place is not known
    out.add(whole ? Effect{Effect::Kind::store, base, kBetween, op.mem.disp}
                  : Effect{Effect::Kind::store_other, base, 0, op.mem.disp});
    if (whole) {
      out.add({Effect::Kind::clobber, kBetween});
    }
  }

  // eax, ecx, edx, ebx, esp, ebp, esi, edi; of interest is what calls preserve.
  void push_all(Instruction& out) const {
    move_sp(out, -8 * pushed());
    if (pushed() == word()) {
      for (const auto& [reg, offset] : kPushedByAll) {
        out.add({Effect::Kind::store, sp(), reg, offset});
      }
    }
  }

  void pop_all(Instruction& out) const {
    for (const auto& [reg, offset] : kPushedByAll) {
      out.add({Effect::Kind::load, reg, sp(), offset});
    }
    for (Register reg = 0; reg < 3; ++reg) {
      out.add({Effect::Kind::clobber, reg});
    }
    move_sp(out, 8 * pushed());
  }

  void exchange(Instruction& out) const {
    const Register left = address_register(operand(0));
    const Register right = address_register(operand(1));
    if (left == kNoRegister || right == kNoRegister) {
      return clobber_written(out);
    }
    out.add({Effect::Kind::set, kBetween, left, 0});
    out.add({Effect::Kind::set, left, right, 0});
    out.add({Effect::Kind::set, right, kBetween, 0});
    out.add({Effect::Kind::clobber, kBetween});
  }

  void enter(Instruction& out) const {
    move_sp(out, -word());
    out.add({Effect::Kind::store, sp(), fp(), 0});
    out.add({Effect::Kind::set, fp(), sp(), 0});
    if (operand(1).imm == 0) {
      move_sp(out, -operand(0).imm);
    } else {
      out.add({Effect::Kind::clobber, sp()});
    }
  }

  void add(Instruction& out) const {
    const Register destination = address_register(operand(0));
    if (destination == kNoRegister || operand(1).type != X86_OP_IMM) {
      return clobber_written(out);
    }
    std::int64_t amount = operand(1).imm;
    amount =
        operand(0).size == 4 ? static_cast<std::int32_t>(amount) : amount;  // is unsigned there
    out.add({Effect::Kind::set, destination, destination,
             decoded_->id == X86_INS_SUB ? -amount : amount});
  }

  void lea(Instruction& out) const {
    const Register destination = address_register(operand(0));
    const Register base = base_of_sum(operand(1));
    if (destination != kNoRegister && base != kNoRegister) {
      out.add({Effect::Kind::set, destination, base, operand(1).mem.disp});
      // i386 compilers pad with lea 0(%esi),%esi.
      out.padding = destination == base && operand(1).mem.disp == 0;
    } else {
      clobber_written(out);
    }
  }

  void move(Instruction& out) const {
    const cs_x86_op& to = operand(0);
    const cs_x86_op& from = operand(1);
    if (address_register(to) != kNoRegister && address_register(from) != kNoRegister) {
      return out.add({Effect::Kind::set, address_register(to), address_register(from), 0});
    }
    const auto [destination, source] = std::pair(whole_register(to), whole_register(from));
    if (destination != kNoRegister && any_base(from) != kNoRegister) {
      out.add(indexed({Effect::Kind::load, destination, any_base(from), from.mem.disp}, from));
    } else if (any_base(to) != kNoRegister && source != kNoRegister) {
      out.add(indexed({Effect::Kind::store, any_base(to), source, to.mem.disp}, to));
    } else if (plain_base(to) != kNoRegister) {
      out.add({Effect::Kind::store_other, plain_base(to), 0, to.mem.disp});
    } else {
      clobber_written(out);
    }
  }

  void compare(Instruction& out) const {
    const Register left = address_register(operand(0));
    const Register right = address_register(operand(1));
    if (left != kNoRegister && right != kNoRegister) {
      out.add({Effect::Kind::compare, left, right, 0});
    }
  }

  void flow(Instruction& out) const {
    using Flow = Instruction::Flow;
    const bool direct = operand_count() == 1 && operand(0).type == X86_OP_IMM;
    if (direct) {
      const auto target = static_cast<Address>(operand(0).imm);
      out.target = is_64_ ? target : target & 0xffffffff;
    }
    if (cs_insn_group(handle_, decoded_, CS_GRP_CALL)) {
      out.flow = Flow::call;
      if (out.target == decoded_->address + decoded_->size) {  // call next; pop %ebx
        out.flow = Flow::next;
        move_sp(out, -word());
        out.add({Effect::Kind::store_other, sp(), 0, 0});
      }
    } else if (decoded_->id == X86_INS_JMP) {
      out.flow = direct ? Flow::jump : Flow::indirect_jump;
    } else if (cs_insn_group(handle_, decoded_, CS_GRP_JUMP) || loops()) {
      out.flow = decoded_->id == X86_INS_JNE ? Flow::branch_if_unequal : Flow::branch;
    } else if (stops()) {
      out.flow = Flow::stop;
      out.returns = decoded_->id == X86_INS_RET || decoded_->id == X86_INS_RETF;
      out.popped = out.returns && direct ? static_cast<std::uint16_t>(operand(0).imm) : 0;
      out.target.reset();
      out.padding = decoded_->id == X86_INS_INT3;
    } else {
      out.target.reset();
      out.padding = decoded_->id == X86_INS_NOP;
      clobber_written(out);
    }
  }

  // Capstone counts these among no jumps.
  [[nodiscard]] bool loops() const {
    return decoded_->id == X86_INS_LOOP || decoded_->id == X86_INS_LOOPE ||
           decoded_->id == X86_INS_LOOPNE;
  }

  [[nodiscard]] bool stops() const {
    switch (decoded_->id) {
      case X86_INS_RET:
      case X86_INS_RETF:
      case X86_INS_IRET:
      case X86_INS_IRETD:
      case X86_INS_IRETQ:
      case X86_INS_HLT:
      case X86_INS_INT3:
        return true;
      default:
        break;
    }
    // ud0, ud1 and ud2, by their bytes: Capstone 4 calls the second ud2b, Capstone 5 ud1, and from
    // some 5.0 on the opcodes that it tells lack the byte that tells them from others (roundsd).
    constexpr std::array<std::uint8_t, 11> kPrefixes = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                                        0x66, 0x67, 0xf0, 0xf2, 0xf3};
    const std::span<const std::uint8_t> code(decoded_->bytes, decoded_->size);
    const auto opcode = std::ranges::find_if_not(code, [&](std::uint8_t byte) {
      return (byte & 0xf0U) == 0x40 || std::ranges::find(kPrefixes, byte) != kPrefixes.end();
    });
    const bool is_two_bytes = code.end() - opcode >= 2 && opcode[0] == 0x0f;
    return is_two_bytes && (opcode[1] == 0xff || opcode[1] == 0xb9 || opcode[1] == 0x0b);
  }

  void clobber_written(Instruction& out) const {
    cs_regs read{};
    cs_regs written{};
    std::uint8_t read_count = 0;
    std::uint8_t written_count = 0;
    if (cs_regs_access(handle_, decoded_, read, &read_count, written, &written_count) !=
        CS_ERR_OK) {
      return;
    }
    for (std::size_t i = 0; i < written_count; ++i) {
      const Register reg = number(static_cast<x86_reg>(written[i]));
      if (reg != kNoRegister) {
        out.add({Effect::Kind::clobber, reg});
      }
    }
  }

  // i386 only: ebx, ebp, esi, edi, and where pusha stores them.
  static constexpr std::array<std::pair<Register, std::int64_t>, 4> kPushedByAll = {
      {{3, 16}, {5, 8}, {6, 4}, {7, 0}}};
};

}  // namespace

std::unique_ptr<InstructionDecoder> make_library_decoder(Dialect dialect) {
  return std::make_unique<LibraryDecoder>(dialect);
}

}  // namespace whocall::x86
