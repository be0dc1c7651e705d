// RISC-V machine code read backwards: instructions have 2 or 4 bytes, and the second half of a long
// one may look like a short one.
#pragma once

#include "arch/code_model.h"

namespace whocall::riscv {

// Each answers the question of CodeModel by the same name.
std::optional<CallSite> call_before(ByteView before, Address return_address);
bool flow_ends(ByteView before);
// Appends where `code` begins to lower the stack pointer and to save the return address right
// behind a call.
//
// Folklore. Situation: a function ends in a call that never comes back, and the next one is reached
// by jumps alone. Example: glibc's _dl_rtld_di_serinfo behind __assert_fail, which dlinfo jumps to.
// Remedy: behind a call ra leads back to just there, and nobody keeps that.
void append_starts_behind_calls(ByteView code, Address address, std::vector<Address>& starts);

}  // namespace whocall::riscv
