// The symbol that other debuggers would name for an address, and why it is not the function there.
#pragma once

#include <optional>
#include <string>

#include "object/elf_file.h"
#include "symbols/discovery/function_starts.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

struct NearestSymbol {
  std::string name;  // as in the file
  NameSource source = NameSource::none;
  Address start = 0;   // link address
  std::string reason;  // "its 11 bytes end at 0x1180"
};

// The nearest symbol with a name at or below `link`, in the section of `link`, which is known to be
// in a function without a name; none when there is no such symbol. `starts` may be null.
std::optional<NearestSymbol> nearest_symbol(const ElfFile& file, const SymbolTable& table,
                                            const FunctionStarts* starts, Address link);

}  // namespace whocall
