// Relocations of x86 code: the System V psABIs of AMD64 (4.4, B.2 "Optimize GOTPCRELX
// relocations") and i386 (4.4, A.2), and "ELF Handling For Thread-Local Storage" (U. Drepper), 5.
#pragma once

#include <span>

#include "arch/relocation_form.h"

namespace whocall::x86 {

std::span<const RelocationForm> relocations_of_64();
std::span<const RelocationForm> relocations_of_32();

// RelocationKind::got_slot, by the instruction that the linker left.
RelocatedTarget got_target_of_64(const RelocatedPlace& place);
RelocatedTarget got_target_of_32(const RelocatedPlace& place);

}  // namespace whocall::x86
