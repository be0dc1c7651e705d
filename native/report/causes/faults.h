// What the kernel says of a signal beside its name: the meaning of si_code, by signal.
#pragma once

#include <string_view>

#include "arch/architecture.h"

namespace whocall {

inline constexpr int kFromKernel = 0x80;    // SI_KERNEL: faults without an address, and more
inline constexpr int kIntegerDivision = 1;  // FPE_INTDIV

// Half a sentence on a fault; empty where the code says nothing of one. `signal` is its name.
std::string_view fault_meaning(const Architecture& arch, std::string_view signal, int code);

// Whether the kernel knows what address the fault is about.
bool tells_fault_address(const Architecture& arch, std::string_view signal, int code);

// Whether a process sent the signal: kill(), tgkill(), sigqueue().
constexpr bool tells_sender(int code) { return code == 0 || code == -1 || code == -6; }

inline bool is_x86(const Architecture& arch) { return arch.family == "x86"; }

}  // namespace whocall
