// Names in the ELF files that JIT compilers keep in memory for debuggers.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "process/jit/jit_objects.h"
#include "symbols/jit/jit_functions.h"

namespace whocall {

// The functions of an object's .symtab, sorted by their start and disjoint. One ends before the
// next, with its section, and after its own size where that is known.
std::vector<JitFunction> functions_of(const JitObject& object, const Architecture& arch);

}  // namespace whocall
