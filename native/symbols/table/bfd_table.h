// Function tables of files that are not ELF: PE, COFF, Mach-O, whatever libbfd reads.
#pragma once

#include <memory>

#include "object/bfd_library.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// Functions end at the next function's start: those formats give no sizes, or libbfd does not pass
// them on. The last one of the file ends with its page. Throws Error when libbfd cannot be loaded
// or does not recognise the file.
std::shared_ptr<const SymbolTable> table_from_bfd(const std::string& path);
std::shared_ptr<const SymbolTable> table_from_bfd(BfdFile& file);

}  // namespace whocall
