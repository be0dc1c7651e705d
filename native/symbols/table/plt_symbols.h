// Names for PLT slots: "puts@plt".
#pragma once

#include <memory>

#include "object/elf_file.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// `table` with the PLT slots of `file` added (source `plt`), as libbfd names them or, where it
// cannot be loaded or does not know the machine, by what their code loads. `table` itself when
// there are none. Loads libbfd and reads the file's relocations, so call it when an address in a
// PLT has to be named, not before.
std::shared_ptr<const SymbolTable> with_plt_names(std::shared_ptr<const SymbolTable> table,
                                                  const ElfFile& file);

// Whether a link address lies in a section of PLT slots (.plt, .plt.sec, .plt.got, .iplt, ...).
bool is_in_plt(const ElfFile& file, Address address);

}  // namespace whocall
