// A name that code and data prove, and what its sources look at.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/discovery/function_starts.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

struct InferredName {
  Address function = 0;  // link address of its start
  std::string name;      // as it is shown
  NameSource source = NameSource::none;
  std::string proof{};  // what shows it, to be said behind "by"; empty where the source says all
};

// Where a source looks; all of it outlives the call.
struct NameEvidence {
  const ElfFile& file;
  const Architecture& arch;
  const SymbolTable& table;
  std::function<const FunctionStarts&()> starts;  // costs a look at all code when first asked
  std::function<bool()> knows_starts;             // whether that has happened
};

// A source appends what it is sure of, one name for a function. It never throws; on damage or where
// its proof has a gap, it says nothing: a wrong name is worse than none.
using InferNames = void (*)(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
