#include "arch/x86/return_path.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/path_state.h"
#include "arch/x86/families.h"
#include "arch/x86/frame_facts.h"

namespace whocall::x86 {
namespace {

constexpr int kLongest = 256;  // instructions, over all ways
using bits64::kFp;
using bits64::kSp;
constexpr Register kThread = 58;  // fs_base
constexpr Register kRegisters = 16;
constexpr std::array<Register, 2> kKept = {kFp, kSp};

using Value = PathResult;

class Runner {
 public:
  Runner(ByteView code, Address address) : code_(code), address_(address) {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK) {
      cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
      decoded_ = cs_malloc(handle_);
    }
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() {
    if (decoded_ != nullptr) {
      cs_free(decoded_, 1);
    }
    if (handle_ != 0) {
      cs_close(&handle_);
    }
  }

  std::optional<ReturnPath> run(PathState state, std::uint64_t at) {
    while (decoded_ != nullptr && ++steps_ < kLongest && decode(at)) {
      at += decoded_->size;
      if (decoded_->id == X86_INS_RET) {
        return state.leaving(kSp, kFp);
      }
      if (decoded_->id == X86_INS_JMP) {
        if (operand(0).type != X86_OP_IMM) {
          return std::nullopt;
        }
        at = static_cast<Address>(operand(0).imm) - address_;
        continue;
      }
      if (cs_insn_group(handle_, decoded_, CS_GRP_JUMP)) {
        const auto target = static_cast<Address>(operand(0).imm) - address_;
        const auto straight = run(state, at);
        return agreed(straight, run(state, target));
      }
      if (cs_insn_group(handle_, decoded_, CS_GRP_CALL)) {
        state.after_call(kKept);
      } else {
        apply(state);
      }
    }
    return std::nullopt;
  }

 private:
  bool decode(std::uint64_t at) {
    const ByteView rest = code_.from(at);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(rest.bytes().data());
    std::size_t size = rest.size();
    std::uint64_t address = address_ + at;
    return size != 0 && cs_disasm_iter(handle_, &bytes, &size, &address, decoded_);
  }

  [[nodiscard]] const cs_x86_op& operand(std::size_t index) const {
    return decoded_->detail->x86.operands[index];
  }

  [[nodiscard]] static Register number(x86_reg reg) { return family_number(reg, true); }

  [[nodiscard]] Value address_of(const PathState& state, const cs_x86_op& op) const {
    if (op.mem.index != X86_REG_INVALID) {
      return std::nullopt;
    }
    Value base;
    if (op.mem.base == X86_REG_RIP) {
      const Address next = decoded_->address + decoded_->size;
      base = PathValue{{PathStep::Kind::constant, 0, static_cast<std::int64_t>(next)}};
    } else if (op.mem.base == X86_REG_INVALID) {
      base = PathValue{{PathStep::Kind::constant, 0, 0}};
    } else {
      base = state.get(number(op.mem.base));
    }
    base = plus(base, op.mem.disp);
    if (op.mem.segment == X86_REG_FS) {  // the thread's own words
      const bool fixed =
          base && base->size() == 1 && base->front().kind == PathStep::Kind::constant;
      return fixed ? Value(PathValue{{PathStep::Kind::base, kThread, base->front().value}})
                   : std::nullopt;
    }
    return op.mem.segment == X86_REG_INVALID ? base : std::nullopt;
  }

  [[nodiscard]] Value value_of(const PathState& state, const cs_x86_op& op) const {
    if (op.type == X86_OP_IMM) {
      return PathValue{{PathStep::Kind::constant, 0, op.imm}};
    }
    if (op.size != 8) {
      return std::nullopt;
    }
    return op.type == X86_OP_REG ? state.get(number(op.reg)) : state.load(address_of(state, op));
  }

  void assign(PathState& state, const cs_x86_op& op, const Value& value) const {
    if (op.type == X86_OP_REG) {
      state.set(number(op.reg), op.size == 8 ? value : std::nullopt);
    } else if (op.type == X86_OP_MEM) {
      state.store(address_of(state, op), op.size == 8 ? value : std::nullopt);
    }
  }

  void apply(PathState& state) const {
    switch (decoded_->id) {
      case X86_INS_MOV:
      case X86_INS_MOVABS:
        return assign(state, operand(0), value_of(state, operand(1)));
      case X86_INS_LEA:
        return assign(state, operand(0), address_of(state, operand(1)));
      case X86_INS_PUSH:
        state.set(kSp, plus(state.get(kSp), -8));
        return state.store(state.get(kSp), value_of(state, operand(0)));
      case X86_INS_POP:
        assign(state, operand(0), state.load(state.get(kSp)));
        return state.set(kSp, plus(state.get(kSp), 8));
      case X86_INS_ADD:
      case X86_INS_SUB:
        return add(state);
      default:
        return clobber_written(state);
    }
  }

  void add(PathState& state) const {
    const bool subtracts = decoded_->id == X86_INS_SUB;
    const Value left = value_of(state, operand(0));
    if (operand(1).type == X86_OP_IMM) {
      assign(state, operand(0), plus(left, subtracts ? -operand(1).imm : operand(1).imm));
    } else {
      assign(state, operand(0),
             subtracts ? minus(left, value_of(state, operand(1))) : std::nullopt);
    }
  }

  void clobber_written(PathState& state) const {
    cs_regs read{};
    cs_regs written{};
    std::uint8_t read_count = 0;
    std::uint8_t written_count = 0;
    if (cs_regs_access(handle_, decoded_, read, &read_count, written, &written_count) ==
        CS_ERR_OK) {
      for (std::size_t i = 0; i < written_count; ++i) {
        state.set(number(static_cast<x86_reg>(written[i])), std::nullopt);
      }
    }
  }

  ByteView code_;
  Address address_;
  csh handle_ = 0;
  cs_insn* decoded_ = nullptr;
  int steps_ = 0;
};

}  // namespace

std::optional<ReturnPath> return_path_64(ByteView code, Address address, std::uint64_t at) {
  return Runner(code, address).run(PathState(kRegisters), at);
}

}  // namespace whocall::x86
