// x32: x86-64 code whose pointers have 4 bytes. Registers and the words that calls push have 8.
//
// The kernel's structures are those of 32-bit programs with the registers of 64-bit ones, and its
// system calls have a bit of their own (arch/x86/include/asm/compat.h, sigframe.h of Linux).
#include "arch/x86/x32_facts.h"

#include "arch/x86/decoder.h"
#include "arch/x86/x86_64_layout.h"

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

const Architecture kX32 = [] {
  Architecture arch = x86::code_of_64_bits();
  arch.name = "x32";
  arch.gdb_names = kGdbNames;
  arch.abi.pointer_size = 4;
  arch.code.append_start_marks = x86::append_start_marks_x32;
  arch.code.features_at_start = x86::features_at_start_x32;
  arch.code.append_constant_addresses = x86::append_constant_addresses_x32;
  arch.code.make_decoder = x86::make_decoder_x32;
  arch.linkage.startup = x32_startup;
  arch.os.prstatus = {.size = 296,
                      .lwp_offset = 24,
                      .registers_offset = 72,
                      .registers_size = 216,
                      .registers = x86::kPrstatusRegisters};
  arch.os.signal_trampolines = kTrampolines;
  arch.os.thread_starts = kThreadStarts;
  return arch;
}();

}  // namespace whocall
