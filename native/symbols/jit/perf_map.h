// Perf maps: the text that JIT compilers write to /tmp/perf-PID.map (the kernel's
// tools/perf/Documentation/jit-interface.txt): "START SIZE NAME", the numbers hexadecimal.
#pragma once

#include <string_view>

#include "base/budget.h"
#include "symbols/jit/jit_functions.h"

namespace whocall {

// Adds the functions of a map; lines that make no sense are skipped. Of what overlaps the last one
// stays: compilers append when code moves.
void read_perf_map(std::string_view text, JitFunctions& functions, Budget& budget);

}  // namespace whocall
