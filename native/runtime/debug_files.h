// What the files on disk add to those that are loaded: symbol tables, and unwinding rules where
// what is loaded has none.
#pragma once

#include "rules/debug_frame.h"
#include "runtime/mapped_file.h"
#include "runtime/modules.h"
#include "runtime/symbol_index.h"

namespace whocall::runtime {

inline constexpr std::size_t kLongestPath = 4096;

struct KnownFile {
  const char* path = nullptr;
  std::uintptr_t begin = 0;
  BuildId id;
  FunctionTable own;
  FunctionTable debug;
  FunctionTable dynamic;
  rules::DebugFrame loaded;  // .eh_frame of what is loaded without an index of its own
  rules::DebugFrame frames;  // both by link addresses
  bool analysed = false;     // the rules are whocall's own, and not a compiler's
  KnownFile* next = nullptr;
  char searched[kLongestPath] = {};  // the path of a debug file: no stack of a handler has room
};

// Of a module that is loaded: opened when it is first asked for, and kept. Looks into the file, and
// into its debug file: below /usr/lib/debug by build id, or "PATH.whocall" beside it, which
// `whocall export` writes and nobody else may write who may not write the module; in a privileged
// program it is not looked at. One of another build than that in memory is not taken, nor a debug
// file where there is no build id. Null where no memory is left.
const KnownFile* known_file(const Module& module);

// The path of a module, that of the program included.
const char* path_of(const Module& module);

}  // namespace whocall::runtime
