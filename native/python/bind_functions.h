// A whole function table as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/found_functions.h"
#include "symbols/inferred_names.h"
#include "symbols/symbol_table.h"

namespace whocall::python {

struct FunctionListView {
  std::shared_ptr<const SymbolTable> table{};       // owns the names of symbols
  std::shared_ptr<const InferredNames> inferred{};  // owns the others
  std::vector<FoundFunction> functions{};
  std::string build_id{};
};

FunctionListView list_functions(std::shared_ptr<const SymbolTable> table,
                                const FunctionStarts& starts,
                                std::shared_ptr<const InferredNames> inferred,
                                std::string build_id);

}  // namespace whocall::python
