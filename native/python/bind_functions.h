// A whole function table as Python holds it.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "symbols/file_symbols.h"
#include "symbols/found_functions.h"
#include "symbols/symbolizer.h"

namespace whocall::python {

struct FunctionListView {
  FoundFunctions functions{};
  std::string build_id{};
  std::string remark{};  // why something that was to lend names does not
};

// All functions that JIT compilers told of; runtime addresses.
FunctionListView list_jit_functions(const ProcessImage& process, Symbolizer& symbolizer);
// (path, size of the file in bytes, first and last address of the code, number of functions) of the
// ELF files that JIT compilers registered for debuggers.
pybind11::list list_jit_objects(const ProcessImage& process);

// All functions of a file, with inferred names where it has no others.
FunctionListView list_functions(FileSymbols& names);

}  // namespace whocall::python
