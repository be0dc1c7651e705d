#include "arch/riscv/linkage.h"

#include <algorithm>
#include <array>

#include "arch/riscv/addresses.h"
#include "arch/riscv/decoder.h"
#include "arch/riscv/fields.h"

namespace whocall::riscv {
namespace {

constexpr std::uint32_t kAlignStack = 0xff017113;  // andi sp,sp,-16

JumpStub stub_of(const Addresses::Value& to) {
  return to.is_slot ? JumpStub{.slot = to.address} : JumpStub{.target = to.address};
}

// The register by which the instruction at the start of `code` jumps.
std::optional<Register> jump_register(ByteView code) {
  const std::uint32_t parcel = parcel_at(code, 0).value_or(0);
  if ((parcel & 0xf07fU) == 0x8002) {
    return static_cast<Register>(bits(parcel, 7, 5));
  }
  const std::uint32_t word = word_at(code, 0).value_or(0);
  return is_jalr(word) && immediate_i(word) == 0 ? std::optional(rs1(word)) : std::nullopt;
}

// Whether it reads a word to a1 from where `base` points to.
bool reads_count(ByteView code, Register base) {
  const std::uint32_t parcel = parcel_at(code, 0).value_or(0);
  if (is_compressed(parcel)) {
    return (parcel & 0xfc7fU) == 0x400c && bits(parcel, 7, 3) + 8 == base;
  }
  const std::uint32_t word = word_at(code, 0).value_or(0);
  return (word & 0xfff07fffU) == 0x00002583 && rs1(word) == base;
}

// The register that a0 is copied to.
std::optional<Register> copy_of_first(ByteView code) {
  const std::uint32_t parcel = parcel_at(code, 0).value_or(0);
  const bool copies = (parcel & 0xf07fU) == (0x8002U | std::uint32_t{kA0} << 2U);
  return copies ? std::optional(static_cast<Register>(bits(parcel, 7, 5))) : std::nullopt;
}

}  // namespace

// A slot of the PLT: auipc t3,high; ld t3,low(t3); jalr t1,t3; nop. Or a jump alone, near or far.
std::optional<JumpStub> jump_stub(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 4 * kWidth;
  constexpr std::array<Register, 7> kTemporaries = {kT0, 6, 7, 28, 29, 30, 31};
  Decoder decoder;
  Addresses known(true);
  for (std::uint64_t at = 0; at < kLongest;) {
    const auto instruction = decoder.decode(code.from(at), address + at);
    if (!instruction || instruction->flow == Instruction::Flow::call) {
      return std::nullopt;
    }
    if (instruction->flow == Instruction::Flow::jump) {
      return JumpStub{.target = instruction->target};
    }
    if (instruction->flow == Instruction::Flow::indirect_jump) {
      const auto by = jump_register(code.from(at));
      const auto to = by ? known.at(*by) : std::nullopt;
      return to ? std::optional(stub_of(*to)) : std::nullopt;
    }
    known.take(code.from(at), address + at);
    const bool pad = at == 0 && instruction->landing_pad;
    const auto effects = instruction->list();
    const bool of_stub =
        effects.size() == 1 && effects[0].kind != Effect::Kind::store &&
        std::ranges::find(kTemporaries, effects[0].destination) != kTemporaries.end() &&
        known.at(effects[0].destination);
    if (!pad && !of_stub) {
      return std::nullopt;
    }
    at += instruction->size;
  }
  return std::nullopt;
}

// _start of glibc and musl: gp is set, by a call of what stands behind or in place; the stack
// pointer is aligned, and __libc_start_main is called, or musl's _start_c is jumped to. That is
// handed the stack pointer and reads how many arguments stand there into a1, before it calls
// __libc_start_main or jumps there. a0 is its first argument: main, where it is named in the code.
std::optional<StartupCode> startup(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 24 * kWidth;
  Decoder decoder;
  Addresses known(true);
  bool aligned = false;
  bool counted = false;  // the arguments
  Register stack = kA0;
  for (std::uint64_t at = 0; at < kLongest;) {
    const auto instruction = decoder.decode(code.from(at), address + at);
    if (!instruction) {
      return std::nullopt;
    }
    const bool calls = instruction->flow == Instruction::Flow::call;
    if ((aligned || counted) && (calls || instruction->flow == Instruction::Flow::jump)) {
      StartupCode found;
      const auto& main = known.at(kA0);
      if (main && main->is_slot) {
        found.main_slot = main->address;
      } else if (main && main->is_whole) {
        found.main = main->address;
      } else if (!calls && !counted) {
        found.next = instruction->target;
      }
      return found;
    }
    if (instruction->flow != Instruction::Flow::next && !(calls && at == 0)) {
      return std::nullopt;
    }
    aligned = aligned || word_at(code, at) == kAlignStack;
    counted = counted || reads_count(code.from(at), stack);
    stack = copy_of_first(code.from(at)).value_or(stack);
    known.take(code.from(at), address + at);
    known.forget(*instruction);
    at += instruction->size;
  }
  return std::nullopt;
}

// Of _start: auipc gp,high; addi gp,gp,low, in place or in what it calls first.
std::optional<Address> global_pointer(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 4 * kWidth;
  Decoder decoder;
  const auto first = decoder.decode(code, address);
  if (first && first->flow == Instruction::Flow::call && first->target) {
    code = code.from(*first->target - address);
    address = *first->target;
  }
  Addresses known(false);
  for (std::uint64_t at = 0; at < kLongest; at += kWidth) {
    known.take(code.from(at), address + at);
    const auto& found = known.at(kGp);
    if (found && found->is_whole) {
      return found->address;
    }
  }
  return std::nullopt;
}

}  // namespace whocall::riscv
