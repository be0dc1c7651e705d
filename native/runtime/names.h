// Names of functions, out of the symbol tables of the files that are loaded.
#pragma once

#include <cstdint>

#include "runtime/modules.h"

namespace whocall::runtime {

struct FunctionName {
  const char* name = nullptr;  // null: no symbol covers the address
  std::uintptr_t begin = 0;    // link address
  std::uintptr_t size = 0;     // bytes; 0: the symbol does not say it
  std::uintptr_t mode = 0;     // what its address tells beside that: on ARM 1 for T32 code
};

// Of a link address. Looks in the file's own table of symbols, in that of its debug file, and in
// the dynamic one.
FunctionName find_name(const Module& module, std::uintptr_t link_address);

}  // namespace whocall::runtime
