#include "arch/library_operation.h"

#include <map>
#include <memory>
#include <utility>

namespace whocall {
namespace {

// A disassembler with details; opening one takes longer than a function's instructions do.
class Library {
 public:
  Library(cs_arch arch, cs_mode mode) {
    if (cs_open(arch, mode, &handle_) == CS_ERR_OK) {
      cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
      decoded_ = cs_malloc(handle_);
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (decoded_ != nullptr) {
      cs_free(decoded_, 1);
    }
    if (handle_ != 0) {
      cs_close(&handle_);
    }
  }

  // Null where nothing is decoded; good until the next question.
  const cs_insn* decode(ByteView code, Address address) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.bytes().data());
    std::size_t size = code.size();
    std::uint64_t at = address;
    const bool found = decoded_ != nullptr && cs_disasm_iter(handle_, &bytes, &size, &at, decoded_);
    return found ? decoded_ : nullptr;
  }

  [[nodiscard]] bool is_in(const cs_insn& insn, unsigned group) const {
    return cs_insn_group(handle_, &insn, group);
  }
  [[nodiscard]] std::string name(unsigned reg) const {
    const char* found = cs_reg_name(handle_, reg);  // null for none
    return found == nullptr ? "" : found;
  }

 private:
  csh handle_ = 0;
  cs_insn* decoded_ = nullptr;
};

Library& library_for(cs_arch arch, cs_mode mode) {
  thread_local std::map<std::pair<int, int>, std::unique_ptr<Library>> opened;
  auto& library = opened[{arch, mode}];
  if (library == nullptr) {
    library = std::make_unique<Library>(arch, mode);
  }
  return *library;
}

Operand::Kind kind_of(int type) {
  switch (type) {
    case CS_OP_REG:
      return Operand::Kind::reg;
    case CS_OP_IMM:
      return Operand::Kind::immediate;
    case CS_OP_MEM:
      return Operand::Kind::memory;
    default:
      return Operand::Kind::other;
  }
}

template <typename Source>
Operand begun(const Library& library, const Source& source) {
  Operand out;
  out.kind = kind_of(source.type);
  if (out.kind == Operand::Kind::reg) {
    out.reg = library.name(source.reg);
  } else if (out.kind == Operand::Kind::immediate) {
    out.value = source.imm;
  } else if (out.kind == Operand::Kind::memory) {
    out.reg = library.name(source.mem.base);
    out.value = source.mem.disp;
  }
  return out;
}

template <typename Source>
Operand with_access(const Library& library, const Source& source) {
  Operand out = begun(library, source);
  out.read = (source.access & CS_AC_READ) != 0;
  out.written = (source.access & CS_AC_WRITE) != 0;
  if (out.kind == Operand::Kind::memory) {
    out.index = library.name(source.mem.index);
  }
  return out;
}

Operand operand_of(const Library& library, const cs_x86_op& source) {
  Operand out = with_access(library, source);
  out.size = source.size;
  if (out.kind == Operand::Kind::memory) {
    out.scale = static_cast<std::uint8_t>(source.mem.scale);
    out.segment = source.mem.segment == X86_REG_FS || source.mem.segment == X86_REG_GS;
  }
  return out;
}

Operand operand_of(const Library& library, const cs_arm64_op& source) {
  Operand out = with_access(library, source);
  const bool plain = source.ext == ARM64_EXT_INVALID &&
                     (source.shift.type == ARM64_SFT_INVALID ||
                      (source.shift.type == ARM64_SFT_LSL && source.shift.value < 8));
  out.scale = static_cast<std::uint8_t>(plain ? 1U << source.shift.value : 0);
  return out;
}

Operand operand_of(const Library& library, const cs_arm_op& source) {
  Operand out = with_access(library, source);
  const bool plain = source.shift.type == ARM_SFT_INVALID && source.mem.scale == 1;
  out.scale = plain && !source.subtracted ? 1 : 0;
  return out;
}

Operand operand_of(const Library& library, const cs_mips_op& source) {
  return begun(library, source);
}

#if CS_API_MAJOR >= 5
Operand operand_of(const Library& library, const cs_riscv_op& source) {
  return begun(library, source);
}
#endif

template <typename Detail>
void add_operands(const Library& library, const Detail& detail, Operation& out) {
  for (std::size_t at = 0; at < detail.op_count; ++at) {
    out.operands.push_back(operand_of(library, detail.operands[at]));
  }
}

Operation::Flow flow_of(const Library& library, const cs_insn& insn) {
  if (library.is_in(insn, CS_GRP_RET)) {
    return Operation::Flow::leave;
  }
  if (library.is_in(insn, CS_GRP_CALL)) {
    return Operation::Flow::call;
  }
  return library.is_in(insn, CS_GRP_JUMP) ? Operation::Flow::jump : Operation::Flow::next;
}

}  // namespace

std::optional<Operation> library_operation(cs_arch arch, cs_mode mode, ByteView code,
                                           Address address) {
  Library& library = library_for(arch, mode);
  const cs_insn* insn = library.decode(code, address);
  if (insn == nullptr || insn->detail == nullptr) {
    return std::nullopt;
  }
  Operation out;
  out.address = address;
  out.size = static_cast<std::uint8_t>(insn->size);
  out.flow = flow_of(library, *insn);
  out.mnemonic = insn->mnemonic;
  out.operands_text = insn->op_str;
  switch (arch) {
    case CS_ARCH_X86:
      add_operands(library, insn->detail->x86, out);
      break;
    case CS_ARCH_ARM64:
      add_operands(library, insn->detail->arm64, out);
      break;
    case CS_ARCH_ARM:
      add_operands(library, insn->detail->arm, out);
      break;
    case CS_ARCH_MIPS:
      add_operands(library, insn->detail->mips, out);
      break;
#if CS_API_MAJOR >= 5
    case CS_ARCH_RISCV:
      add_operands(library, insn->detail->riscv, out);
      break;
#endif
    default:
      break;
  }
  return out;
}

}  // namespace whocall
