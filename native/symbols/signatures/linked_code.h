// The functions of a linked file, each reduced to what another build of it has in common.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/signatures/linked_function.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

struct LinkedCode {
  std::vector<AddressRange> ranges;  // link addresses, ascending; up to where the next one begins
  std::vector<LinkedFunction> functions;  // the same ones
  std::vector<LinkedReference> references;
};

// `symbols` are those of the file, which outlives the call. Empty where the instruction set does
// not tell what linking decides.
LinkedCode linked_code_of(const ElfFile& file, const Architecture& arch,
                          const SymbolTable& symbols);

}  // namespace whocall
