// x86-64, System V psABI (registers: figure 3.36; kernel structures: <sys/procfs.h>, <ucontext.h>).
#include "arch/x86_64.h"

#include <elf.h>

#include "arch/x86_code.h"
#include "arch/x86_decoder.h"
#include "arch/x86_relocations.h"
#include "arch/x86_return_path.h"
#include "arch/x86_startup.h"

namespace whocall {
namespace {

constexpr std::array<std::string_view, 2> kGdbNames = {"i386:x86-64", "i386:x86-64:intel"};

constexpr auto kNames = [] {
  std::array<std::string_view, 60> names = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                            "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                            "r12", "r13", "r14", "r15", "rip"};
  names[49] = "eflags";
  names[50] = "es";
  names[51] = "cs";
  names[52] = "ss";
  names[53] = "ds";
  names[54] = "fs";
  names[55] = "gs";
  names[58] = "fs_base";
  names[59] = "gs_base";
  return names;
}();

constexpr std::array<Register, 6> kArguments = {5, 4, 1, 2, 8, 9};
constexpr std::array<Register, 6> kCalleeSaved = {3, 6, 12, 13, 14, 15};

// struct user_regs_struct
constexpr std::array<SavedRegister, 26> kPrstatusRegisters = {{
    {15, 0},   {14, 8},   {13, 16},  {12, 24},  {6, 32},   {3, 40},   {11, 48},
    {10, 56},  {9, 64},   {8, 72},   {0, 80},   {2, 88},   {1, 96},   {4, 104},
    {5, 112},  {16, 128}, {51, 136}, {49, 144}, {7, 152},  {52, 160}, {58, 168},
    {59, 176}, {53, 184}, {50, 192}, {54, 200}, {55, 208},
}};

// struct sigcontext inside struct ucontext, whose address is sp in the trampoline.
constexpr std::array<SavedRegister, 17> kContextRegisters = {{
    {8, 40},
    {9, 48},
    {10, 56},
    {11, 64},
    {12, 72},
    {13, 80},
    {14, 88},
    {15, 96},
    {5, 104},
    {4, 112},
    {6, 120},
    {3, 128},
    {1, 136},
    {0, 144},
    {2, 152},
    {7, 160},
    {16, 168},
}};

// eflags and cs.
constexpr std::array<ContextMark, 2> kContextMarks = {{
    {176, 8, x86::kFixedFlags, x86::kFixedFlagsSet},
    {184, 2, x86::kPrivilege, x86::kUser},
}};

// mov $__NR_rt_sigreturn,%rax; syscall
constexpr std::array<std::uint8_t, 9> kRestore = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                  0x00, 0x00, 0x0f, 0x05};
// mov $__NR_clone,%eax; syscall, or __NR_clone3; mov $__NR_exit,%eax; syscall
constexpr std::array<std::uint8_t, 7> kClone = {0xb8, 0x38, 0x00, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> kClone3 = {0xb8, 0xb3, 0x01, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> kExit = {0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<ThreadStart, 2> kThreadStarts = {{{kClone, kExit}, {kClone3, kExit}}};
constexpr std::array<SignalTrampoline, 1> kTrampolines = {
    {{"rt_sigreturn", kRestore, 0, false, kContextRegisters, kContextMarks}}};

}  // namespace

const Architecture kX86_64 = {
    .name = "x86_64",
    .gdb_names = kGdbNames,
    .elf_machine = EM_X86_64,
    .pointer_size = 8,
    .endian = Endian::little,
    .register_names = kNames,
    .pc = 16,
    .sp = 7,
    .fp = 6,
    .return_address = 16,
    .link_register = std::nullopt,
    .callee_saved = kCalleeSaved,
    .thread_pointer = 58,
    .code_alignment = 1,
    .stack_alignment = 8,
    .return_address_size_on_stack = 8,
    .prstatus = {.size = 336,
                 .signal_offset = 12,
                 .lwp_offset = 32,
                 .registers_offset = 112,
                 .registers_size = 216,
                 .registers = kPrstatusRegisters},
    .frame_pointer = {.cfa_offset = 16, .saved_fp_offset = 0, .return_address_offset = 8},
    .signal_trampolines = kTrampolines,
    .thread_starts = kThreadStarts,
    .call_before = x86::call_before_64,
    .longest_call = x86::kLongestCall,
    .append_start_marks = x86::append_start_marks_64,
    .features_at_start = x86::features_at_start_64,
    .append_jump_tables = x86::append_jump_tables_64,
    .flow_ends = x86::flow_ends,
    .append_direct_jumps = x86::append_direct_jumps_64,
    .append_constant_addresses = x86::append_constant_addresses_64,
    .append_named_addresses = x86::append_named_addresses_64,
    .argument_registers = kArguments,
    .make_decoder = x86::make_decoder_64,
    .return_path = x86::return_path_64,
    .jump_stub = x86::jump_stub_64,
    .startup = x86_64_startup,
    .relocations = x86::relocations_of_64,
    .got_target = x86::got_target_of_64,
};

}  // namespace whocall
