// Stubs that linkers make for MIPS, and the code at the entry point.
#pragma once

#include <optional>

#include "arch/linkage.h"

namespace whocall::mips {

// The PLT of programs that are not position-independent:
// lui t7,HIGH; lw t9,LOW(t7); addiu t8,t7,LOW; jr t9 (the last two in either order), with ld and
// daddiu in 64 bits.
std::optional<JumpStub> jump_stub(ByteView code, Address address);

// glibc's _start, which finds main and __libc_start_main in the GOT.
std::optional<StartupCode> startup(ByteView code, Address address);

}  // namespace whocall::mips
