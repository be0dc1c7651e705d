// Which word of a file is bound to which imported function.
#pragma once

#include <string_view>
#include <unordered_map>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// Link address of the GOT or PLT word -> symbol name, from the dynamic relocations that bind a
// function (JUMP_SLOT, GLOB_DAT). Names live as long as the file.
std::unordered_map<Address, std::string_view> imported_functions(const ElfFile& file);

}  // namespace whocall
