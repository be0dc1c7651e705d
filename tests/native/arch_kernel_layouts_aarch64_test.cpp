// Our numbers against the headers of an AArch64 system, where this is one.
#ifdef __aarch64__
#include <asm/ptrace.h>
#include <doctest/doctest.h>
#include <elf.h>
#include <signal.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <ucontext.h>

#include "arch/aarch64/facts.h"
#include "kernel_layouts.h"

namespace whocall::test {
namespace {

std::map<std::string, std::size_t> words_from(std::size_t base) {
  std::map<std::string, std::size_t> expected = {
      {"sp", base + offsetof(user_regs_struct, sp)},
      {"pc", base + offsetof(user_regs_struct, pc)},
      {"cpsr", base + offsetof(user_regs_struct, pstate)}};
  for (std::size_t number = 0; number < 31; ++number) {
    expected.emplace("x" + std::to_string(number),
                     base + offsetof(user_regs_struct, regs) + 8 * number);
  }
  return expected;
}

TEST_CASE("kernel layouts: AArch64 prstatus and registers are those of the system's headers") {
  const PrstatusLayout& layout = kAArch64.os.prstatus;
  CHECK(layout.size == sizeof(elf_prstatus));
  CHECK(layout.signal_offset == offsetof(elf_prstatus, pr_cursig));
  CHECK(layout.lwp_offset == offsetof(elf_prstatus, pr_pid));
  CHECK(layout.registers_offset == offsetof(elf_prstatus, pr_reg));
  CHECK(layout.registers_size == sizeof(elf_gregset_t));
  CHECK(layout.registers_size == sizeof(user_regs_struct));
  check_block(layout.registers, kAArch64, words_from(0), 8);
  CHECK(kAArch64.os.signatures.type == NT_ARM_PAC_MASK);
  CHECK(kAArch64.os.signatures.offset == offsetof(user_pac_mask, insn_mask));
}

TEST_CASE("kernel layouts: AArch64 signal context is that of <ucontext.h>, behind its siginfo") {
  REQUIRE(kAArch64.os.signal_trampolines.size() == 1);
  const std::size_t context = sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext);
  const std::size_t base = context + offsetof(mcontext_t, regs);
  REQUIRE(offsetof(mcontext_t, pc) - offsetof(mcontext_t, regs) ==
          offsetof(user_regs_struct, pc) - offsetof(user_regs_struct, regs));
  check_block(kAArch64.os.signal_trampolines[0].registers, kAArch64, words_from(base), 8);
}

}  // namespace
}  // namespace whocall::test
#endif
