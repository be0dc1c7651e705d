// The notes of a core that is made of another dump.
#pragma once

#include <cstddef>
#include <vector>

#include "process/minidump/minidump.h"

namespace whocall {

// One behind the other, in the kernel's order: the thread that crashed first, behind it what is the
// process's, the signal in each thread. What the kernel does not tell is in whocall's own notes
// (module_hints.h).
std::vector<std::byte> core_notes_of(const Minidump& dump);

}  // namespace whocall
