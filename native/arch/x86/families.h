// The general registers of x86 and their parts, by the decoder library's names and by DWARF's.
#pragma once

#include <capstone/capstone.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "arch/architecture.h"
#include "arch/x86/code.h"

namespace whocall::x86 {

inline constexpr Register kNoRegister = kRegisterLimit;

// A general register and its parts; in the order of the numbers in machine code.
struct Family {
  x86_reg full;
  Register number64;             // DWARF number in x86-64 code; kNoRegister where there is none
  Register number32;             // DWARF number in i386 code
  std::array<x86_reg, 3> parts;  // registers that are a part of it or hold it
};

inline constexpr std::array<Family, 16> kFamilies = {{
    {X86_REG_RAX, 0, 0, {X86_REG_EAX, X86_REG_AX, X86_REG_AL}},
    {X86_REG_RCX, 2, 1, {X86_REG_ECX, X86_REG_CX, X86_REG_CL}},
    {X86_REG_RDX, 1, 2, {X86_REG_EDX, X86_REG_DX, X86_REG_DL}},
    {X86_REG_RBX, 3, 3, {X86_REG_EBX, X86_REG_BX, X86_REG_BL}},
    {X86_REG_RSP, 7, 4, {X86_REG_ESP, X86_REG_SP, X86_REG_SPL}},
    {X86_REG_RBP, 6, 5, {X86_REG_EBP, X86_REG_BP, X86_REG_BPL}},
    {X86_REG_RSI, 4, 6, {X86_REG_ESI, X86_REG_SI, X86_REG_SIL}},
    {X86_REG_RDI, 5, 7, {X86_REG_EDI, X86_REG_DI, X86_REG_DIL}},
    {X86_REG_R8, 8, kNoRegister, {X86_REG_R8D, X86_REG_R8W, X86_REG_R8B}},
    {X86_REG_R9, 9, kNoRegister, {X86_REG_R9D, X86_REG_R9W, X86_REG_R9B}},
    {X86_REG_R10, 10, kNoRegister, {X86_REG_R10D, X86_REG_R10W, X86_REG_R10B}},
    {X86_REG_R11, 11, kNoRegister, {X86_REG_R11D, X86_REG_R11W, X86_REG_R11B}},
    {X86_REG_R12, 12, kNoRegister, {X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}},
    {X86_REG_R13, 13, kNoRegister, {X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}},
    {X86_REG_R14, 14, kNoRegister, {X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}},
    {X86_REG_R15, 15, kNoRegister, {X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}},
}};

// The high byte registers belong to their families too.
inline x86_reg family_head(x86_reg reg) {
  switch (reg) {
    case X86_REG_AH:
      return X86_REG_AL;
    case X86_REG_BH:
      return X86_REG_BL;
    case X86_REG_CH:
      return X86_REG_CL;
    case X86_REG_DH:
      return X86_REG_DL;
    default:
      return reg;
  }
}

// DWARF number of the family that `reg` belongs to; kNoRegister for all others.
inline Register family_number(x86_reg reg, bool is_64) {
  const x86_reg head = family_head(reg);
  for (const Family& family : kFamilies) {
    if (family.full == head || std::ranges::find(family.parts, head) != family.parts.end()) {
      return is_64 ? family.number64 : family.number32;
    }
  }
  return kNoRegister;
}

}  // namespace whocall::x86
