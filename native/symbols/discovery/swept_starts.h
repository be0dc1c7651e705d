// The sweep of all code that nothing delimits.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/discovery/code_pointers.h"
#include "symbols/discovery/function_alignment.h"
#include "symbols/discovery/function_start.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// What is known of a file before its code is swept.
struct SweptFile {
  const ElfFile& file;
  const Architecture& arch;
  const std::vector<AddressRange>& areas;  // of code
  const SymbolTable& symbols;
  const CodePointers& pointers;
  const FunctionAlignment& alignment;
  const std::vector<Address>& called_once;  // ascending
};

// The functions that are left over between `starts` (CodeSweep), ascending; takes away from
// `starts` what the code refutes: calls that are none, and labels. `taken`: addresses that
// instructions take.
std::vector<Address> sweep_code(const SweptFile& known, std::vector<Address> taken,
                                std::vector<FunctionStart>& starts);

}  // namespace whocall
