// AArch64 instructions: those that move the stack pointer, the frame pointer or the place, and that
// put the frame pointer and the link register on the stack or take them from there.
#include "arch/aarch64/code_step.h"

namespace whocall::aarch64 {
namespace {

using Flow = CodeStep::Flow;
using Pointer = CodeStep::Pointer;

constexpr std::uint32_t kX29 = 29;
constexpr std::uint32_t kX30 = 30;
constexpr std::uint32_t kX31 = 31;            // the stack pointer, or none
constexpr std::int32_t kRegister = 8;         // bytes
constexpr std::uint8_t kInstructionSize = 4;  // bytes

// A signed field.
constexpr std::int32_t field(std::uint32_t word, unsigned first, unsigned bits) {
  const std::uint32_t value = word >> first & ((1U << bits) - 1);
  const std::uint32_t sign = 1U << (bits - 1);
  return static_cast<std::int32_t>((value ^ sign) - sign);
}

void aim(CodeStep& step, Flow flow, std::uintptr_t address, std::int32_t words) {
  step.flow = flow;
  step.target = address + static_cast<std::uintptr_t>(std::intptr_t{words} * kInstructionSize);
}

// False: it is none that goes elsewhere.
bool read_flow(std::uint32_t word, std::uintptr_t address, CodeStep& step) {
  if ((word & 0x7c000000U) == 0x14000000U) {  // b, bl
    aim(step, (word & 0x80000000U) != 0 ? Flow::call : Flow::jump, address, field(word, 0, 26));
  } else if ((word & 0xff000000U) == 0x54000000U || (word & 0x7e000000U) == 0x34000000U) {
    aim(step, Flow::branch, address, field(word, 5, 19));  // b.cond, cbz, cbnz
  } else if ((word & 0x7e000000U) == 0x36000000U) {        // tbz, tbnz
    aim(step, Flow::branch, address, field(word, 5, 14));
  } else if ((word & 0xfe000000U) == 0xd6000000U) {
    const std::uint32_t kind = word >> 21U & 7U;  // br, blr, ret; with and without a signature
    step.flow = kind == 0 ? Flow::jump : kind == 1 ? Flow::call : kind == 2 ? Flow::ret : Flow::end;
  } else if ((word & 0xffe0001fU) == 0xd4200000U || (word & 0xffff0000U) == 0) {  // brk, udf
    step.flow = Flow::end;
  } else {
    return false;
  }
  return true;
}

// What a load or store has to do with the stack: the registers, from the stack pointer that it
// leaves on. `place`: of the first.
struct Access {
  std::uint32_t first = 0;
  std::uint32_t second = kX31;  // none
  std::int32_t place = 0;       // bytes
  bool is_load = false;
};

void take_access(const Access& access, CodeStep& step) {
  const auto one = [&](std::uint32_t number, std::int32_t place) {
    if (number == kX29) {
      (access.is_load ? step.restores_fp : step.saves_fp) = true;
      step.fp_place = place;
    } else if (number == kX30) {
      (access.is_load ? step.restores_link : step.saves_link) = true;
      step.link_place = place;
    }
  };
  one(access.first, access.place);
  one(access.second, access.place + kRegister);
}

void move_sp(CodeStep& step, std::int32_t bytes) {
  step.sp = Pointer::from_sp;
  step.sp_offset = bytes;
}

// ldp and stp of all sizes, by the stack pointer.
bool read_pair(std::uint32_t word, CodeStep& step) {
  if ((word & 0x3a0003e0U) != 0x280003e0U) {
    return false;
  }
  const std::uint32_t size = word >> 30U;
  const bool is_vector = (word & 1U << 26U) != 0;
  const bool is_tagged = !is_vector && size == 1 && (word & 1U << 22U) == 0;  // stgp
  const std::int32_t scale = is_vector ? 4 << size : is_tagged ? 16 : size == 2 ? 8 : 4;
  const std::int32_t offset = field(word, 15, 7) * scale;
  const std::uint32_t mode = word >> 23U & 3U;  // 1: moves it afterwards; 3: before
  if ((mode & 1U) != 0) {
    move_sp(step, offset);
  }
  if (!is_vector && size == 2) {
    const std::int32_t place = mode == 1 ? -offset : mode == 3 ? 0 : offset;
    take_access({word & 31U, word >> 10U & 31U, place, (word & 1U << 22U) != 0}, step);
  }
  return true;
}

// ldr and str of all sizes, by the stack pointer.
bool read_single(std::uint32_t word, CodeStep& step) {
  const bool is_far = (word & 0x3b0003e0U) == 0x390003e0U;   // an offset without a sign
  const bool is_near = (word & 0x3b2003e0U) == 0x380003e0U;  // a signed one
  if (!is_far && !is_near) {
    return false;
  }
  const std::uint32_t mode = is_far ? 0 : word >> 10U & 3U;  // 1: moves it afterwards; 3: before
  const std::int32_t offset =
      is_far ? static_cast<std::int32_t>(word >> 10U & 0xfffU) * kRegister : field(word, 12, 9);
  if ((mode & 1U) != 0) {
    move_sp(step, offset);
  }
  if ((word & 0xff800000U) == (is_far ? 0xf9000000U : 0xf8000000U)) {  // of whole registers
    const std::int32_t place = mode == 1 ? -offset : mode == 3 ? 0 : offset;
    take_access({word & 31U, kX31, place, (word & 1U << 22U) != 0}, step);
  }
  return true;
}

// The stack pointer, by as many bytes as a vector has (addvl, addpl, addsvl, addspl), or written
// back by those that store tags or vectors of several registers.
bool moves_by_vectors(std::uint32_t word) {
  const bool adds = (word & 0xffa0f01fU) == 0x0420501fU;
  const bool tags = (word & 0xff200400U) == 0xd9200400U && (word >> 5U & 31U) == kX31;
  const bool several = (word & 0xbe800000U) == 0x0c800000U && (word >> 5U & 31U) == kX31;
  return adds || tags || several;
}

// Of x registers: sums with a number, and with a register; and, or and xor with a number.
void read_sum(std::uint32_t word, CodeStep& step) {
  const std::uint32_t to = word & 31U;
  const bool is_logical = (word & 0x1f800000U) == 0x12000000U && word >> 29U != 7;
  const std::uint32_t from = word >> 5U & 31U;
  const bool is_number = (word & 0xbf800000U) == 0x91000000U;
  const bool is_register = (word & 0xbfe00000U) == 0x8b200000U;
  if (moves_by_vectors(word)) {
    step.sp = Pointer::lost;
  }
  if ((!is_number && !is_register && !is_logical) || (to != kX31 && to != kX29)) {
    return;
  }
  const std::int32_t shifted = static_cast<std::int32_t>(word >> 10U & 0xfffU)
                               << ((word & 1U << 22U) != 0 ? 12U : 0U);
  const std::int32_t number = (word & 1U << 30U) != 0 ? -shifted : shifted;
  Pointer& pointer = to == kX31 ? step.sp : step.fp;
  pointer = is_number && from == kX31                 ? Pointer::from_sp
            : is_number && from == kX29 && to == kX31 ? Pointer::from_fp
                                                      : Pointer::lost;
  (to == kX31 ? step.sp_offset : step.fp_offset) = number;
}

// movz and movk of the lower halves; add and sub of a whole register to the stack pointer.
void read_number(std::uint32_t word, CodeStep& step) {
  const bool puts = (word & 0x7fc00000U) == 0x52800000U && (word >> 21U & 3U) < 2;
  const bool adds = (word & 0x7fe00000U) == 0x72a00000U;  // the upper one
  if (puts || adds) {
    const std::uint32_t value = (word >> 5U & 0xffffU) << ((word & 1U << 21U) != 0 ? 16U : 0U);
    step.number = puts ? CodeStep::Number::put : CodeStep::Number::added;
    step.number_register = static_cast<std::uint8_t>(word & 31U);
    step.number_value = static_cast<std::int32_t>(value);
  } else if ((word & 0xbfe0ffffU) == 0x8b2063ffU) {  // uxtx, not shifted
    step.sp = Pointer::from_sp;
    step.sp_offset = (word & 1U << 30U) != 0 ? -1 : 1;
    step.number = CodeStep::Number::moves_sp;
    step.number_register = static_cast<std::uint8_t>(word >> 16U & 31U);
  }
}

}  // namespace

CodeStep read_step(const std::uint8_t* code, std::size_t size, std::uintptr_t address) {
  CodeStep step;
  if (size < kInstructionSize || address % kInstructionSize != 0) {
    return step;
  }
  step.size = kInstructionSize;
  const std::uint32_t word = std::uint32_t{code[0]} | std::uint32_t{code[1]} << 8U |
                             std::uint32_t{code[2]} << 16U | std::uint32_t{code[3]} << 24U;
  step.is_padding = word == 0xd503201fU;
  if (!read_flow(word, address, step) && !read_pair(word, step) && !read_single(word, step)) {
    read_sum(word, step);
    read_number(word, step);
  }
  return step;
}

}  // namespace whocall::aarch64
