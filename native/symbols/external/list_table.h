// A Breakpad file as the function table of a module whose own file nobody has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "object/source_line.h"
#include "symbols/external/listed_names.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// Addresses count from the module's first loaded byte.
struct ListTable {
  std::shared_ptr<const SymbolTable> table;
  std::shared_ptr<const ListedNames> names;  // keeps what `lines_at` reads

  // Innermost inlined call first; empty where the list tells none.
  [[nodiscard]] std::vector<SourceLine> lines_at(Address address) const {
    return names->lines != nullptr ? names->lines->lines_at(address) : std::vector<SourceLine>{};
  }
};

// Empty when the file is no Breakpad file. Throws Error when it is one that cannot be used.
std::optional<ListTable> table_from_breakpad(const std::string& path);

}  // namespace whocall
