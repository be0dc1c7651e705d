// AVX-512's instructions on bytes and words that access memory, read from the encoding: those that
// C libraries search and compare texts with.
//
// Folklore. Situation: the decoder library's release 4 knows some of them only, and of these takes
// an index for a vector's register. Example: strlen(NULL) on a processor that has them stops at
// vpcmpeqb (%rdi),%ymm16,%k0, and nothing could be said of what was read. Remedy: they are read
// here.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.7.1
// (EVEX) and 2.7.5 (the displacement of one byte counts vectors), and appendix A (opcodes).
#pragma once

#include <optional>

#include "arch/operation.h"
#include "base/byte_view.h"

namespace whocall::x86 {

// A miss when `code` does not begin with one that has an operand in memory. `address` is that of
// the code.
std::optional<Operation> read_byte_vector(ByteView code, Address address, bool is_64);

}  // namespace whocall::x86
