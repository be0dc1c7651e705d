// System calls of ARM by its EABI: `svc #0`. arch_do_signal_or_restart() and do_signal() of Linux
// set calls back before a debugger looks.
#include "arch/arm/call_facts.h"

#include <array>

#include "arch/arm/system_calls.h"

namespace whocall::arm {
namespace {

constexpr std::array<Register, 6> kCallArguments = {0, 1, 2, 3, 4, 5};

}  // namespace

constinit const SystemCallAbi kCallAbi = {
    .names = kCalls,
    .number = 7,
    .result = 0,
    .arguments = kCallArguments,
    .set_back = true,
};

}  // namespace whocall::arm
