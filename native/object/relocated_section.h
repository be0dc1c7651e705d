// The bytes of a section of an object file as a loader leaves them in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arch/relocation_form.h"
#include "object/elf_file.h"

namespace whocall {

// What a relocation against a section at address 0 means: nothing, as a loader that places sections
// would have placed this one too; or that address, as in an object file before linking, and of
// sections that are not loaded (debug info refers to debug info).
enum class AddressZero : bool { is_none, is_valid };

// The contents of `section` with its relocations applied, where every section stands at its own
// address; empty when there are none to apply. Left as they are: relocations of a form that is not
// absolute or relative to its place, and those against what has no address in the file.
// gABI, "Relocation": the symbol S, the addend A, the place P; S + A or S + A - P is stored.
std::vector<std::byte> relocated_section(const ElfFile& file, const ElfSection& section,
                                         std::span<const RelocationForm> forms,
                                         AddressZero zero = AddressZero::is_none);

}  // namespace whocall
