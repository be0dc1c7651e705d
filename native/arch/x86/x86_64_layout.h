// What the two ABIs of 64-bit x86 code share: registers, frames, code, and where the kernel saves
// them (figure 3.36 of the System V psABI; <sys/procfs.h>, <ucontext.h>).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <elf.h>

#include "arch/architecture.h"
#include "arch/x86/code.h"
#include "arch/x86/frame_facts.h"
#include "arch/x86/relocations.h"
#include "arch/x86/return_path.h"
#include "arch/x86/startup.h"

namespace whocall::x86 {

inline constexpr std::array<Register, 6> kArguments = {5, 4, 1, 2, 8, 9};
inline constexpr std::array<Register, 4> kWindowsArguments = {2, 1, 8, 9};
inline constexpr std::array<Register, 6> kCalleeSaved = {3, 6, 12, 13, 14, 15};

// struct user_regs_struct
inline constexpr std::array<SavedRegister, 26> kPrstatusRegisters = {{
    {15, 0},   {14, 8},   {13, 16},  {12, 24},  {6, 32},   {3, 40},   {11, 48},
    {10, 56},  {9, 64},   {8, 72},   {0, 80},   {2, 88},   {1, 96},   {4, 104},
    {5, 112},  {16, 128}, {51, 136}, {49, 144}, {7, 152},  {52, 160}, {58, 168},
    {59, 176}, {53, 184}, {50, 192}, {54, 200}, {55, 208},
}};

// struct sigcontext inside struct ucontext, whose address is sp in the trampoline; `At`: where it
// lies in there, bytes.
template <std::uint32_t At>
inline constexpr std::array<SavedRegister, 17> kContextRegisters = {{
    {8, At + 0},
    {9, At + 8},
    {10, At + 16},
    {11, At + 24},
    {12, At + 32},
    {13, At + 40},
    {14, At + 48},
    {15, At + 56},
    {5, At + 64},
    {4, At + 72},
    {6, At + 80},
    {3, At + 88},
    {1, At + 96},
    {0, At + 104},
    {2, At + 112},
    {7, At + 120},
    {16, At + 128},
}};

// eflags and cs.
template <std::uint32_t At>
inline constexpr std::array<ContextMark, 2> kContextMarks = {{
    {At + 136, 8, kFixedFlags, kFixedFlagsSet},
    {At + 144, 2, kPrivilege, kUser},
}};

// All but names, pointers, the decoder, and what the kernel shows.
inline Architecture code_of_64_bits() {
  Architecture arch;
  arch.family = "x86";
  arch.abi.elf_machine = bits64::kElfMachine;
  arch.registers = {.names = bits64::kNames,
                    .size = 8,
                    .pc = bits64::kPc,
                    .sp = bits64::kSp,
                    .fp = bits64::kFp,
                    .return_address = bits64::kPc,
                    .callee_saved = kCalleeSaved,
                    .thread_pointer = 58,
                    .arguments = kArguments,
                    .windows_arguments = kWindowsArguments};
  arch.frame = {.cfa_on_entry = 8,
                .pushed_by_call = 8,
                .red_zone = 128,
                .chain = chain_of(bits64::kFp, bits64::kChain),
                .go = GoFrames{.goroutine = 58, .clone_stack = 4, .saved_fp = -8}};
  arch.code = {.call_before = call_before_64,
               .longest_call = kLongestCall,
               .append_start_marks = append_start_marks_64,
               .features_at_start = features_at_start_64,
               .append_jump_tables = append_jump_tables_64,
               .flow_ends = flow_ends,
               .append_direct_jumps = append_direct_jumps_64,
               .append_constant_addresses = append_constant_addresses_64,
               .append_named_addresses = append_named_addresses_64,
               .make_placed_reader = make_placed_reader_64,
               .return_path = return_path_64};
  arch.linkage = {.pushed_by_slot = 8,
                  .jump_stub = jump_stub_64,
                  .startup = x86_64_startup,
                  .relocations = relocations_of_64,
                  .got_target = got_target_of_64};
  return arch;
}

}  // namespace whocall::x86
