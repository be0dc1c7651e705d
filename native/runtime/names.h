// Names of functions, out of the symbol tables of the files that are loaded.
#pragma once

#include <cstdint>

#include "runtime/modules.h"

namespace whocall::runtime {

struct FunctionName {
  const char* name = nullptr;  // null: no symbol covers the address
  std::uintptr_t begin = 0;    // link address
};

// Of a link address. Looks in the file's own table of symbols, in that of its debug file, and in
// the dynamic one.
FunctionName find_name(const Module& module, std::uintptr_t link_address);

}  // namespace whocall::runtime
