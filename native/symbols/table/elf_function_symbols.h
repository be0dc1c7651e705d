// Which symbols of an ELF file name functions.
#pragma once

#include <memory>

#include "object/elf_file.h"
#include "symbols/table/symbol_list.h"

namespace whocall {

// Appends the functions among .symtab and .dynsym, unsorted and with repetitions. A function is a
// symbol of type FUNC or IFUNC, or of none, that is defined in an executable section (where section
// headers are gone: segment), and is no mapping symbol ($a, $d, $t, $x). Ranges end at the
// symbol's own size (`exact_end`, cut at the section's end) or are empty when it has none.
// Names are cut before a version ("memcpy@@GLIBC_2.14"), and are read only where mapping symbols
// have to be told apart.
void add_elf_functions(const std::shared_ptr<const ElfFile>& file, SymbolList& functions);

// The same of the .symtab alone of a debug file or .gnu_debugdata image, whose dynamic symbols are
// gone, under the name of that source.
void add_companion_functions(const std::shared_ptr<const ElfFile>& file, NameSource source,
                             SymbolList& functions);

}  // namespace whocall
