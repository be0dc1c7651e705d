// What a program that a debugger controls has loaded, where the debugger itself does not say it.
#pragma once

#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "memory/memory.h"
#include "process/auxiliary_vector.h"

namespace whocall {

// A file as somebody has it loaded, who does not tell of its headers.
struct LoadedFile {
  std::string path;
  Address bias = 0;  // runtime address = link address + bias
  bool is_executable = false;
};

// The program first, as `program` (its file as the debugger knows it), then what the dynamic
// linker's list tells, by the target's own absolute paths; before the linker has run, the linker
// itself. Without an auxiliary vector (bare metal), or when the program cannot be read, only the
// program, at its link addresses.
std::vector<LoadedFile> loaded_files(const Memory& memory, const AuxiliaryVector& auxiliary,
                                     const Architecture& arch, const std::string& program);

}  // namespace whocall
