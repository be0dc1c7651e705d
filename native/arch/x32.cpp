// x32: x86-64 code whose pointers have 4 bytes. Registers and the words that calls push have 8.
//
// The kernel's structures are those of 32-bit programs with the registers of 64-bit ones, and its
// system calls have a bit of their own (arch/x86/include/asm/compat.h, sigframe.h of Linux).
#include "arch/x32.h"

#include <elf.h>

#include "arch/x86_64_layout.h"
#include "arch/x86_code.h"
#include "arch/x86_decoder.h"
#include "arch/x86_relocations.h"
#include "arch/x86_return_path.h"
#include "arch/x86_startup.h"

namespace whocall {
namespace {

constexpr std::array<std::string_view, 2> kGdbNames = {"i386:x64-32", "i386:x64-32:intel"};

// mov $(__X32_SYSCALL_BIT | 513),%rax; syscall
constexpr std::array<std::uint8_t, 9> kRestore = {0x48, 0xc7, 0xc0, 0x01, 0x02,
                                                  0x00, 0x40, 0x0f, 0x05};
// The same bit with __NR_clone, __NR_clone3 and __NR_exit, in %eax.
constexpr std::array<std::uint8_t, 7> kClone = {0xb8, 0x38, 0x00, 0x00, 0x40, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> kClone3 = {0xb8, 0xb3, 0x01, 0x00, 0x40, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> kExit = {0xb8, 0x3c, 0x00, 0x00, 0x40, 0x0f, 0x05};
constexpr std::array<ThreadStart, 2> kThreadStarts = {{{kClone, kExit}, {kClone3, kExit}}};
constexpr std::array<SignalTrampoline, 1> kTrampolines = {
    {{"rt_sigreturn", kRestore, 0, false, x86::kContextRegisters<24>, x86::kContextMarks<24>}}};

}  // namespace

const Architecture kX32 = {
    .name = "x32",
    .gdb_names = kGdbNames,
    .abi = {.elf_machine = EM_X86_64, .pointer_size = 4},
    .registers = {.names = x86::kNames,
                  .size = 8,
                  .pc = 16,
                  .sp = 7,
                  .fp = 6,
                  .return_address = 16,
                  .callee_saved = x86::kCalleeSaved,
                  .thread_pointer = 58,
                  .arguments = x86::kArguments},
    .frame = {.cfa_on_entry = 8,
              .pushed_by_call = 8,
              .red_zone = 128,
              .chain = FrameChain{.base = 6, .cfa_offset = 16, .return_address_offset = 8}},
    .code = {.call_before = x86::call_before_64,
             .longest_call = x86::kLongestCall,
             .append_start_marks = x86::append_start_marks_64,
             .features_at_start = x86::features_at_start_64,
             .append_jump_tables = x86::append_jump_tables_64,
             .flow_ends = x86::flow_ends,
             .append_direct_jumps = x86::append_direct_jumps_64,
             .append_constant_addresses = x86::append_constant_addresses_64,
             .append_named_addresses = x86::append_named_addresses_64,
             .make_decoder = x86::make_decoder_x32,
             .return_path = x86::return_path_64},
    .os = {.prstatus = {.size = 296,
                        .signal_offset = 12,
                        .lwp_offset = 24,
                        .registers_offset = 72,
                        .registers_size = 216,
                        .registers = x86::kPrstatusRegisters},
           .signal_trampolines = kTrampolines,
           .thread_starts = kThreadStarts},
    .linkage = {.pushed_by_slot = 8,
                .jump_stub = x86::jump_stub_64,
                .startup = x86_64_startup,
                .relocations = x86::relocations_of_64,
                .got_target = x86::got_target_of_64},
};

}  // namespace whocall
