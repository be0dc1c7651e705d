// Cores of other systems, which are told by what they are.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "object/elf_file.h"

namespace whocall {

// Of a file that is not ELF what it is, as "is a core of macOS"; empty: not known.
std::string_view foreign_dump(std::span<const std::byte> head);

// Of an ELF core the system whose it is, as "FreeBSD", by the owners of its notes; empty where that
// is Linux, or nobody tells.
std::string_view foreign_system(std::span<const ElfNote> notes);

}  // namespace whocall
