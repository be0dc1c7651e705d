// The bytes of a section of an object file as a loader leaves them in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arch/relocation_form.h"
#include "object/elf_file.h"

namespace whocall {

// The contents of `section` with its relocations applied, where every section stands at its own
// address; empty when there are none to apply. Left as they are: relocations of a form that is not
// absolute or relative to its place, and those against what has no address in the file.
// gABI, "Relocation": the symbol S, the addend A, the place P; S + A or S + A - P is stored.
std::vector<std::byte> relocated_section(const ElfFile& file, const ElfSection& section,
                                         std::span<const RelocationForm> forms);

}  // namespace whocall
