// The functions that a program starts with, by what its start-up code hands to the C library.
#pragma once

#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

struct StartupFunction {
  Address address = 0;  // link address
  std::string name;
};

// `_start` (`__start` of MIPS), `main` and, in musl's programs, the `_start_c` between them. The
// code at the file's entry point has to be the C library's, byte for byte, and in a file with
// imports what it calls has to be __libc_start_main.
std::vector<StartupFunction> startup_functions(const ElfFile& file, const Architecture& arch);

}  // namespace whocall
