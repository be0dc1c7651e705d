// Which functions a debugger is told of, and under which names.
#pragma once

#include <cstddef>

#include "symbols/file_symbols.h"
#include "symfile/elf_writer.h"

namespace whocall {

struct FunctionSymbols {
  WrittenSymbols symbols;  // ascending by address
  std::size_t named = 0;   // those with a name that somebody wrote down or code proves
};

struct SymbolChoice {
  // Names of a separate debug file, which a debugger that has found it knows as well.
  bool debug_names = true;
  // Names of the file itself, for a debugger that cannot read it, nor its unwind tables.
  bool own_names = false;
};

// The functions of a file, unless `own_names` but for those that a debugger reads from the file
// itself: symbol tables and PLT slots. Names are as files have them (mangled). A name that was
// concluded is followed by
// "?", except that of main, which debuggers look for and which is proven; a function without a name
// is sub_<link address>.
FunctionSymbols function_symbols(FileSymbols& names, SymbolChoice choice);

}  // namespace whocall
