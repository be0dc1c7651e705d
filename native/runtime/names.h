// Names of functions, out of the symbol tables of the files that are loaded.
#pragma once

#include <cstdint>

#include "runtime/modules.h"

namespace whocall::runtime {

struct FunctionName {
  const char* name = nullptr;  // null: no symbol covers the address
  std::uintptr_t begin = 0;    // link address
};

// Of a link address. Looks in the file's own table of symbols, in that of its separate debug file
// (by build id, below /usr/lib/debug), and in the dynamic one. A file that is another build than
// the one in memory lends no names.
FunctionName find_name(const Module& module, std::uintptr_t link_address);

// Opens what find_name() will look into.
void open_names(const Module& module);

// The path of a module, that of the program included.
const char* path_of(const Module& module);

}  // namespace whocall::runtime
