// The unwind tables of a PE file of x86-64, written anew as those of an ELF file.
#pragma once

#include <cstddef>
#include <vector>

#include "base/budget.h"
#include "object/pe_functions.h"

namespace whocall {

// An .eh_frame of absolute addresses. Functions of which the information cannot be read, and what
// the budget has no room for, are left out.
//
// Beyond what the file says it has rows for epilogues: the format leaves these to whoever unwinds,
// as code there must be written in one of a few ways.
std::vector<std::byte> eh_frame_of_pe(const PeBytes& bytes, const PeHeaders& headers,
                                      const std::vector<PeFunction>& functions, Budget& budget);

}  // namespace whocall
