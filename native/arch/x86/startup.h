// The code at the entry point of programs, which the C library's crt1.o brings along.
#pragma once

#include <optional>

#include "arch/architecture.h"

namespace whocall {

// glibc's and uClibc's _start, and musl's _start and _start_c, of x86-64.
std::optional<StartupCode> x86_64_startup(ByteView code, Address address);
// glibc's _start of x32.
std::optional<StartupCode> x32_startup(ByteView code, Address address);
// glibc's and uClibc's _start of i386.
std::optional<StartupCode> i386_startup(ByteView code, Address address);

}  // namespace whocall
