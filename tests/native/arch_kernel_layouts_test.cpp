// Our numbers against the system's own headers: prstatus, user_regs_struct, sigcontext.
#include <doctest/doctest.h>
#include <elf.h>
#include <signal.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <ucontext.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "kernel_layouts.h"

namespace whocall::test {
namespace {

#ifdef __x86_64__

TEST_CASE("kernel layouts: x86-64 prstatus is that of <sys/procfs.h>") {
  const PrstatusLayout& layout = kX86_64.os.prstatus;
  CHECK(layout.size == sizeof(elf_prstatus));
  CHECK(layout.signal_offset == offsetof(elf_prstatus, pr_cursig));
  CHECK(layout.lwp_offset == offsetof(elf_prstatus, pr_pid));
  CHECK(layout.registers_offset == offsetof(elf_prstatus, pr_reg));
  CHECK(layout.registers_size == sizeof(elf_gregset_t));
  CHECK(layout.registers_size == sizeof(user_regs_struct));
}

TEST_CASE("kernel layouts: x86-64 registers lie where <sys/user.h> says") {
  using R = user_regs_struct;
  check_block(kX86_64.os.prstatus.registers, kX86_64,
              {{"rax", offsetof(R, rax)},         {"rbx", offsetof(R, rbx)},
               {"rcx", offsetof(R, rcx)},         {"rdx", offsetof(R, rdx)},
               {"rsi", offsetof(R, rsi)},         {"rdi", offsetof(R, rdi)},
               {"rbp", offsetof(R, rbp)},         {"rsp", offsetof(R, rsp)},
               {"r8", offsetof(R, r8)},           {"r9", offsetof(R, r9)},
               {"r10", offsetof(R, r10)},         {"r11", offsetof(R, r11)},
               {"r12", offsetof(R, r12)},         {"r13", offsetof(R, r13)},
               {"r14", offsetof(R, r14)},         {"r15", offsetof(R, r15)},
               {"rip", offsetof(R, rip)},         {"eflags", offsetof(R, eflags)},
               {"cs", offsetof(R, cs)},           {"ss", offsetof(R, ss)},
               {"ds", offsetof(R, ds)},           {"es", offsetof(R, es)},
               {"fs", offsetof(R, fs)},           {"gs", offsetof(R, gs)},
               {"fs_base", offsetof(R, fs_base)}, {"gs_base", offsetof(R, gs_base)}},
              8);
}

TEST_CASE("kernel layouts: x86-64 signal context is that of <ucontext.h>") {
  REQUIRE(kX86_64.os.signal_trampolines.size() == 1);
  const std::size_t base = offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, gregs);
  const auto at = [&](int index) { return base + 8U * static_cast<unsigned>(index); };
  check_block(kX86_64.os.signal_trampolines[0].registers, kX86_64,
              {{"r8", at(REG_R8)},
               {"r9", at(REG_R9)},
               {"r10", at(REG_R10)},
               {"r11", at(REG_R11)},
               {"r12", at(REG_R12)},
               {"r13", at(REG_R13)},
               {"r14", at(REG_R14)},
               {"r15", at(REG_R15)},
               {"rdi", at(REG_RDI)},
               {"rsi", at(REG_RSI)},
               {"rbp", at(REG_RBP)},
               {"rbx", at(REG_RBX)},
               {"rdx", at(REG_RDX)},
               {"rax", at(REG_RAX)},
               {"rcx", at(REG_RCX)},
               {"rsp", at(REG_RSP)},
               {"rip", at(REG_RIP)}},
              8);
  const auto marks = kX86_64.os.signal_trampolines[0].marks;
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].offset == at(REG_EFL));
  CHECK(marks[1].offset == at(REG_CSGSFS));
}

// The kernel itself is asked: a signal is delivered, and its frame must bear the marks.
TEST_CASE("kernel layouts: x86-64 marks hold in a context that the kernel wrote") {
  static ucontext_t seen;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    seen = *static_cast<ucontext_t*>(context);
  };
  REQUIRE(sigaction(SIGUSR2, &action, nullptr) == 0);
  REQUIRE(raise(SIGUSR2) == 0);
  for (const ContextMark& mark : kX86_64.os.signal_trampolines[0].marks) {
    std::uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const char*>(&seen) + mark.offset, mark.size);
    CHECK((value & mark.mask) == mark.value);
  }
}

#endif

// The i386 headers are not there on x86-64: the structures as the kernel declares them
// (arch/x86/include/uapi/asm/ptrace.h, sigcontext.h), with 32-bit words.
struct Registers32 {
  std::uint32_t ebx, ecx, edx, esi, edi, ebp, eax, xds, xes, xfs, xgs, orig_eax, eip, xcs, eflags,
      esp, xss;
};
struct Prstatus32 {
  std::uint32_t signo, code, error;
  std::uint16_t cursig, pad;
  std::uint32_t sigpend, sighold;
  std::uint32_t pid, ppid, pgrp, sid;
  std::uint32_t times[8];
  Registers32 reg;
  std::uint32_t fpvalid;
};
struct Context32 {
  std::uint32_t gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, trapno, err, eip, cs,
      eflags, esp_at_signal, ss;
};
struct Ucontext32 {
  std::uint32_t flags, link, stack_sp, stack_flags, stack_size;
  Context32 mcontext;
};

TEST_CASE("kernel layouts: i386 prstatus and registers") {
  const PrstatusLayout& layout = kI386.os.prstatus;
  CHECK(layout.size == sizeof(Prstatus32));
  CHECK(layout.signal_offset == offsetof(Prstatus32, cursig));
  CHECK(layout.lwp_offset == offsetof(Prstatus32, pid));
  CHECK(layout.registers_offset == offsetof(Prstatus32, reg));
  CHECK(layout.registers_size == sizeof(Registers32));
  using R = Registers32;
  check_block(layout.registers, kI386,
              {{"eax", offsetof(R, eax)},
               {"ebx", offsetof(R, ebx)},
               {"ecx", offsetof(R, ecx)},
               {"edx", offsetof(R, edx)},
               {"esi", offsetof(R, esi)},
               {"edi", offsetof(R, edi)},
               {"ebp", offsetof(R, ebp)},
               {"esp", offsetof(R, esp)},
               {"eip", offsetof(R, eip)},
               {"eflags", offsetof(R, eflags)}},
              4);
}

void check_context32(const SignalTrampoline& trampoline, std::size_t base) {
  using C = Context32;
  check_block(trampoline.registers, kI386,
              {{"edi", base + offsetof(C, edi)},
               {"esi", base + offsetof(C, esi)},
               {"ebp", base + offsetof(C, ebp)},
               {"esp", base + offsetof(C, esp)},
               {"ebx", base + offsetof(C, ebx)},
               {"edx", base + offsetof(C, edx)},
               {"ecx", base + offsetof(C, ecx)},
               {"eax", base + offsetof(C, eax)},
               {"eip", base + offsetof(C, eip)}},
              4);
  REQUIRE(trampoline.marks.size() == 2);
  CHECK(trampoline.marks[0].offset == base + offsetof(C, eflags));
  CHECK(trampoline.marks[1].offset == base + offsetof(C, cs));
}

TEST_CASE("kernel layouts: i386 signal contexts, old form and real-time form") {
  REQUIRE(kI386.os.signal_trampolines.size() == 2);
  check_context32(kI386.os.signal_trampolines[0], 0);
  check_context32(kI386.os.signal_trampolines[1], offsetof(Ucontext32, mcontext));
}

}  // namespace
}  // namespace whocall::test
