// x86-64, System V psABI.
#include "arch/x86/x86_64_facts.h"

#include "arch/x86/decoder.h"
#include "arch/x86/value_reader.h"
#include "arch/x86/x86_64_layout.h"

namespace whocall {
namespace {

constexpr std::array<std::string_view, 2> kGdbNames = {"i386:x86-64", "i386:x86-64:intel"};

constexpr std::array<std::string_view, 1> kHostNames = {"x86_64"};

// Of __morestack: mov 8(%rbp),%r10; inc %r10; ...; call *%r10
constexpr std::array<std::uint8_t, 7> kComputesOuter = {0x4c, 0x8b, 0x55, 0x08, 0x49, 0xff, 0xc2};
constexpr std::array<std::uint8_t, 3> kCallsOuter = {0x41, 0xff, 0xd2};

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

// CONTEXT of AMD64 (winnt.h): segments, flags, then the general registers.
constexpr std::array<ContextField, 24> kX64ContextFields = {{
    {56, 2, 136}, {58, 2, 184},  {60, 2, 192},  {62, 2, 200}, {64, 2, 208}, {66, 2, 160},
    {68, 4, 144}, {120, 8, 80},  {128, 8, 88},  {136, 8, 96}, {144, 8, 40}, {152, 8, 152},
    {160, 8, 32}, {168, 8, 104}, {176, 8, 112}, {184, 8, 72}, {192, 8, 64}, {200, 8, 56},
    {208, 8, 48}, {216, 8, 24},  {224, 8, 16},  {232, 8, 8},  {240, 8, 0},  {248, 8, 128},
}};
constexpr std::array<MinidumpContext, 1> kX64Contexts = {{{256, 0, kX64ContextFields}}};
constexpr std::array<std::uint16_t, 1> kX64Processors = {9};

}  // namespace

const Architecture kX86_64 = [] {
  Architecture arch = x86::code_of_64_bits();
  arch.name = "x86_64";
  arch.gdb_names = kGdbNames;
  arch.abi.pointer_size = 8;
  arch.abi.host_names = kHostNames;
  arch.abi.image_name = "amd64";
  arch.abi.flirt_processor = 0;
  arch.code.make_decoder = x86::make_decoder_64;
  arch.code.make_value_reader = x86::make_value_reader_64;
  arch.frame.outer_call = {.computes = kComputesOuter, .calls = kCallsOuter, .outer = 8};
  arch.os.prstatus = {.size = 336,
                      .lwp_offset = 32,
                      .registers_offset = 112,
                      .registers_size = 216,
                      .registers = x86::kPrstatusRegisters};
  arch.os.signal_trampolines = kTrampolines;
  arch.os.thread_starts = kThreadStarts;
  // pointer_guard of tcbhead_t; JB_RSP and JB_PC of jmp_buf; struct pthread_unwind_buf
  arch.os.kept_jump = KeptJump{.key_offset = 0x30,
                               .rotated = 17,
                               .sp_offset = 48,
                               .pc_offset = 56,
                               .size = 104,
                               .alignment = 16};
  arch.minidump = {.processors = kX64Processors,
                   .microdump_processor = "x86_64",
                   .contexts = kX64Contexts,
                   .system_call = 120,
                   .thread_pointer = 168};
  return arch;
}();

}  // namespace whocall
