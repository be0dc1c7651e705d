// The functions of a symbol table in the order of their addresses, as a crash's frames ask for
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/mapped_file.h"

namespace whocall::runtime {

struct IndexedSymbol {
  std::uintptr_t begin = 0;  // link address
  std::uintptr_t reach = 0;  // where this one or one before it ends, whichever is farther
  std::uint32_t number = 0;  // in the table
};

// Kept for as long as the process lives; empty where there are no functions, or no memory is left.
struct FunctionTable {
  SymbolTable symbols;
  const IndexedSymbol* index = nullptr;
  std::size_t count = 0;
};

FunctionTable function_table(const SymbolTable& symbols);

// The symbol that covers a link address: of several the one that begins last, and of those at one
// place the first global one. Null without one.
const ElfW(Sym) * find_function(const FunctionTable& table, std::uintptr_t address);

}  // namespace whocall::runtime
