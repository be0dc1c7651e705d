// The instructions that make up nine tenths of compiled x86 code, decoded straight from their
// bytes: integer arithmetic, moves, jumps, calls and plain SSE, without unusual prefixes.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
// appendix A (opcode maps).
#pragma once

#include <optional>

#include "arch/instruction.h"
#include "arch/x86/families.h"

namespace whocall::x86 {

// Says what the library's decoder says, or nothing: where the form is none of these, or the bytes
// end within it.
std::optional<Instruction> decode_common_form(ByteView code, Address address, Dialect dialect);

}  // namespace whocall::x86
