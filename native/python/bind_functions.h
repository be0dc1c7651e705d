// A whole function table as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/file_symbols.h"
#include "symbols/found_functions.h"

namespace whocall::python {

struct FunctionListView {
  std::shared_ptr<const SymbolTable> table{};       // owns the names of symbols
  std::shared_ptr<const InferredNames> inferred{};  // owns the others
  std::vector<FoundFunction> functions{};
  std::string build_id{};
  std::string remark{};  // why something that was to lend names does not
};

// All functions of a file, with inferred names where it has no others.
FunctionListView list_functions(FileSymbols& names);

}  // namespace whocall::python
