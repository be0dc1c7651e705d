// System calls of AArch64: `svc #0`. arch_do_signal_or_restart() and do_signal() of Linux set calls
// back before a debugger looks.
#include "arch/aarch64/call_facts.h"

#include <array>

#include "arch/aarch64/system_calls.h"

namespace whocall::aarch64 {
namespace {

constexpr std::array<Register, 6> kCallArguments = {0, 1, 2, 3, 4, 5};

}  // namespace

constinit const SystemCallAbi kCallAbi = {
    .names = kCalls,
    .number = 8,
    .result = 0,
    .arguments = kCallArguments,
    .set_back = true,
};

}  // namespace whocall::aarch64
