// x86-64, System V psABI.
#include "arch/x86_64.h"

#include <elf.h>

#include "arch/x86_64_layout.h"
#include "arch/x86_code.h"
#include "arch/x86_decoder.h"
#include "arch/x86_relocations.h"
#include "arch/x86_return_path.h"
#include "arch/x86_startup.h"

namespace whocall {
namespace {

constexpr std::array<std::string_view, 2> kGdbNames = {"i386:x86-64", "i386:x86-64:intel"};

// mov $__NR_rt_sigreturn,%rax; syscall
constexpr std::array<std::uint8_t, 9> kRestore = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                  0x00, 0x00, 0x0f, 0x05};
// mov $__NR_clone,%eax; syscall, or __NR_clone3; mov $__NR_exit,%eax; syscall
constexpr std::array<std::uint8_t, 7> kClone = {0xb8, 0x38, 0x00, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> kClone3 = {0xb8, 0xb3, 0x01, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> kExit = {0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<ThreadStart, 2> kThreadStarts = {{{kClone, kExit}, {kClone3, kExit}}};
constexpr std::array<SignalTrampoline, 1> kTrampolines = {
    {{"rt_sigreturn", kRestore, 0, false, x86::kContextRegisters<40>, x86::kContextMarks<40>}}};

}  // namespace

const Architecture kX86_64 = {
    .name = "x86_64",
    .gdb_names = kGdbNames,
    .abi = {.elf_machine = EM_X86_64, .pointer_size = 8},
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
             .make_decoder = x86::make_decoder_64,
             .return_path = x86::return_path_64},
    .os = {.prstatus = {.size = 336,
                        .signal_offset = 12,
                        .lwp_offset = 32,
                        .registers_offset = 112,
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
