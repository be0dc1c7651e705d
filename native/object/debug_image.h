// The debug info of a file as an ELF file in memory, for a reader that cannot do with the file as
// it is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "arch/relocation_form.h"
#include "object/elf_file.h"

namespace whocall {

// Holds the sections that source lines need, inflated and relocated by `forms`; nothing else.
// Sections that cannot be inflated are left out. A miss where the file itself will do: nothing is
// compressed, nothing has to be relocated.
//
// Folklore. Situation: libdw inflates whatever .debug_* a file has as soon as it opens it, and not
// all releases know zstd. Example: of libc's 4 MB of compressed debug info a third is location
// lists, which no source line needs. Remedy: we inflate, and only what is needed. Left to libdw are
// zlib's sections of a file that is split (.dwo): it looks for the other files beside it.
std::optional<std::vector<std::byte>> debug_image(const ElfFile& file,
                                                  std::span<const RelocationForm> forms);

// One without debug info.
std::vector<std::byte> empty_debug_image();

}  // namespace whocall
