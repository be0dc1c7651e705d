// i386, System V psABI as Linux and gcc use it.
#include "arch/x86/i386_facts.h"

#include <elf.h>

#include "arch/x86/code.h"
#include "arch/x86/decoder.h"
#include "arch/x86/frame_facts.h"
#include "arch/x86/relocations.h"
#include "arch/x86/startup.h"
#include "arch/x86/value_reader.h"

namespace whocall {
namespace {

using namespace std::string_view_literals;

constexpr std::array kGdbNames = {"i386"sv, "i386:intel"sv};

constexpr std::array kHostNames = {"i386"sv, "i486"sv, "i586"sv, "i686"sv, "x86_64"sv};

constexpr std::array<Register, 4> kCalleeSaved = {3, 5, 6, 7};
constexpr std::array<Register, 3> kLocalArguments = {0, 2, 1};  // eax, edx, ecx

// Nobody else's number: the base of the segment in %gs, which no register shows.
constexpr Register kThreadPointer = 10;

// struct user_regs_struct of a 32-bit process
constexpr std::array<SavedRegister, 10> kPrstatusRegisters = {{
    {3, 0, 4},
    {1, 4, 4},
    {2, 8, 4},
    {6, 12, 4},
    {7, 16, 4},
    {5, 20, 4},
    {0, 24, 4},
    {8, 48, 4},
    {9, 56, 4},
    {4, 60, 4},
}};

// struct sigcontext; the real-time form finds it 20 bytes into struct ucontext.
constexpr std::uint32_t kInUcontext = 20;
template <std::uint32_t Base>
constexpr std::array<SavedRegister, 9> kContextRegisters = {{
    {7, Base + 16, 4},
    {6, Base + 20, 4},
    {5, Base + 24, 4},
    {4, Base + 28, 4},
    {3, Base + 32, 4},
    {2, Base + 36, 4},
    {1, Base + 40, 4},
    {0, Base + 44, 4},
    {8, Base + 56, 4},
}};

// eflags and cs.
template <std::uint32_t Base>
constexpr std::array<ContextMark, 2> kContextMarks = {{
    {Base + 64, 4, x86::kFixedFlags & 0xffffffff, x86::kFixedFlagsSet},
    {Base + 60, 2, x86::kPrivilege, x86::kUser},
}};

// Of __morestack: add $2,%eax; inc %eax; mov %eax,-12(%ebp); ...; call *-12(%ebp); two arguments
// lie between the return addresses.
constexpr std::array<std::uint8_t, 7> kComputesOuter = {0x83, 0xc0, 0x02, 0x40, 0x89, 0x45, 0xf4};
constexpr std::array<std::uint8_t, 3> kCallsOuter = {0xff, 0x55, 0xf4};

// pop %eax; mov $__NR_sigreturn,%eax; int $0x80
constexpr std::array<std::uint8_t, 8> kSigreturn = {0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80};
// mov $__NR_rt_sigreturn,%eax; int $0x80
constexpr std::array<std::uint8_t, 7> kRtSigreturn = {0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80};

// At the trampoline sp stands at the handler's arguments: (signal, sigcontext by value), or
// (signal, siginfo *, ucontext *).
constexpr std::array<SignalTrampoline, 2> kTrampolines = {{
    {"sigreturn", kSigreturn, 4, false, kContextRegisters<0>, kContextMarks<0>},
    {"rt_sigreturn", kRtSigreturn, 8, true, kContextRegisters<kInUcontext>,
     kContextMarks<kInUcontext>},
}};

// CONTEXT of i386 (winnt.h) behind its floating-point registers.
constexpr std::array<ContextField, 16> kX86ContextFields = {{
    {140, 4, 40},
    {144, 4, 36},
    {148, 4, 32},
    {152, 4, 28},
    {156, 4, 16},
    {160, 4, 12},
    {164, 4, 0},
    {168, 4, 8},
    {172, 4, 4},
    {176, 4, 24},
    {180, 4, 20},
    {184, 4, 48},
    {188, 4, 52},
    {192, 4, 56},
    {196, 4, 60},
    {200, 4, 64},
}};
constexpr std::array<MinidumpContext, 1> kX86Contexts = {{{204, 0, kX86ContextFields}}};
constexpr std::array<std::uint16_t, 1> kX86Processors = {0};

}  // namespace

const Architecture kI386 = {
    .name = "i386",
    .family = "x86",
    .gdb_names = kGdbNames,
    .abi = {.elf_machine = x86::bits32::kElfMachine,
            .pointer_size = 4,
            .wide_alignment = 4,
            .host_names = kHostNames,
            .image_name = "386",
            .flirt_processor = 0},
    .registers = {.names = x86::bits32::kNames,
                  .size = 4,
                  .pc = x86::bits32::kPc,
                  .sp = x86::bits32::kSp,
                  .fp = x86::bits32::kFp,
                  .return_address = x86::bits32::kPc,
                  .callee_saved = kCalleeSaved,
                  .thread_pointer = kThreadPointer,
                  .local_arguments = kLocalArguments},
    .frame = {.cfa_on_entry = 4,
              .pushed_by_call = 4,
              .chain = x86::chain_of(x86::bits32::kFp, x86::bits32::kChain),
              .go = GoFrames{.clone_stack = 1},
              .outer_call = {.computes = kComputesOuter, .calls = kCallsOuter, .outer = 12}},
    .code = {.call_before = x86::call_before_32,
             .longest_call = x86::kLongestCall,
             .append_start_marks = x86::append_start_marks_32,
             .features_at_start = x86::features_at_start_32,
             .append_jump_tables = x86::append_jump_tables_32,
             .flow_ends = x86::flow_ends,
             .append_direct_jumps = x86::append_direct_jumps_32,
             .append_constant_addresses = x86::append_constant_addresses_32,
             .append_named_addresses = x86::append_named_addresses_32,
             .make_decoder = x86::make_decoder_32,
             .make_value_reader = x86::make_value_reader_32},
    .os = {.prstatus = {.size = 144,
                        .signal_offset = 12,
                        .lwp_offset = 24,
                        .registers_offset = 72,
                        .registers_size = 68,
                        .registers = kPrstatusRegisters},
           .thread_areas = {.type = NT_386_TLS, .row_size = 16, .address_offset = 4},  // user_desc
           // pointer_guard of tcbhead_t; JB_SP and JB_PC of jmp_buf; struct pthread_unwind_buf
           .kept_jump = KeptJump{.key_offset = 0x18,
                                 .rotated = 9,
                                 .sp_offset = 16,
                                 .pc_offset = 20,
                                 .size = 44,
                                 .alignment = 4},
           .signal_trampolines = kTrampolines},
    .linkage = {.pushed_by_slot = 4,
                .switches_count_from = ".got.plt",
                .jump_stub = x86::jump_stub_32,
                .startup = i386_startup,
                .relocations = x86::relocations_of_32,
                .got_target = x86::got_target_of_32},
    .minidump = {.processors = kX86Processors,
                 .microdump_processor = "x86",
                 .contexts = kX86Contexts,
                 .system_call = 44},
};

}  // namespace whocall
