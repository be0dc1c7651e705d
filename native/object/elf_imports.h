// What the dynamic relocations of a file tell: which word is bound to which imported function, and
// which words point into the file itself.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// Link address of the GOT or PLT word -> symbol name, from the dynamic relocations that bind a
// function (JUMP_SLOT, GLOB_DAT). Names live as long as the file.
std::unordered_map<Address, std::string_view> imported_functions(const ElfFile& file);

// The link addresses that relocations without a symbol put into the words of a position-independent
// file: code pointers and data pointers alike, each with the link address of its word.
void for_each_relative_pointer(const ElfFile& file,
                               const std::function<void(Address where, Address target)>& visit);

}  // namespace whocall
