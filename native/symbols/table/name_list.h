// Functions that something else than an ELF symbol table names.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "object/source_line.h"
#include "symbols/table/symbol.h"

namespace whocall {

// What shows that a function has an inferred name, by its start: to be said behind "by".
using NameProofs = std::unordered_map<Address, std::string>;

// The names of one file from one source. They join its symbols: same rules, same table.
struct NameList {
  std::vector<Symbol> symbols;                 // link addresses; each with the source of the list
  std::shared_ptr<const void> owner;           // of the strings that the names point to
  std::shared_ptr<const LineTable> lines{};    // null when the source knows none
  std::shared_ptr<const NameProofs> proofs{};  // null when the source says all
};

}  // namespace whocall
