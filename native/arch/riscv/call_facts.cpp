// System calls of RISC-V: `ecall`. arch_do_signal_or_restart() and do_signal() of Linux set calls
// back before a debugger looks.
#include "arch/riscv/call_facts.h"

#include <array>

#include "arch/riscv/system_calls.h"

namespace whocall::riscv {
namespace {

constexpr std::array<Register, 6> kCallArguments = {10, 11, 12, 13, 14, 15};

}  // namespace

constinit const SystemCallAbi kCallAbi = {
    .names = kCalls,
    .number = 17,
    .result = 10,
    .arguments = kCallArguments,
    .set_back = true,
};

}  // namespace whocall::riscv
