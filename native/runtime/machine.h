// What the library has to know of the machine that it was built for.
#pragma once

#if defined(__x86_64__) && defined(__LP64__)
#include "runtime/machine_x86_64.h"
#elif defined(__i386__)
#include "runtime/machine_i386.h"
#elif defined(__aarch64__)
#include "runtime/machine_aarch64.h"
#elif defined(__arm__)
#include "runtime/machine_arm.h"
#elif defined(__mips__)
#include "runtime/machine_mips.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "runtime/machine_riscv.h"
#elif defined(__loongarch_lp64)
#include "runtime/machine_loongarch.h"
#else
#error "libwhocall does not know this machine: give it a header like runtime/machine_x86_64.h"
#endif
