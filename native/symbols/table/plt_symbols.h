// Names for PLT slots: "puts@plt".
#pragma once

#include <memory>

#include "object/elf_file.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// `table` with the PLT slots of `file` added, as libbfd names them (source `plt`). `table` itself
// when there are none, when libbfd cannot be loaded or when it does not know the machine: then the
// slots have no names. Loads libbfd and reads the file's relocations, so call it when an address in
// a PLT has to be named, not before.
std::shared_ptr<const SymbolTable> with_plt_names(std::shared_ptr<const SymbolTable> table,
                                                  const ElfFile& file);

// Whether a link address lies in a section of PLT slots (.plt, .plt.sec, .plt.got, .iplt, ...).
bool is_in_plt(const ElfFile& file, Address address);

}  // namespace whocall
