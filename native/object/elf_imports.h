// What the dynamic relocations of a file tell: which word is bound to which imported function, and
// which words point into the file itself.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// Link address of the GOT or PLT word -> symbol name, from the dynamic relocations that bind a
// function (JUMP_SLOT, GLOB_DAT). Names live as long as the file.
std::unordered_map<Address, std::string_view> imported_functions(const ElfFile& file);

struct RelativePointer {
  Address where = 0;   // link address of the word
  Address target = 0;  // what the loader makes of it, a link address
};

// The link addresses that relocations without a symbol put into the words of a position-independent
// file: code pointers and data pointers alike, as many at once as the block has.
void for_each_block_of_relative_pointers(
    const ElfFile& file, const std::function<void(std::span<const RelativePointer>)>& visit);

// The same, one after the other: visit(where, target). Large libraries have half a million.
template <typename Visit>
void for_each_relative_pointer(const ElfFile& file, Visit&& visit) {
  for_each_block_of_relative_pointers(file, [&visit](std::span<const RelativePointer> block) {
    for (const RelativePointer& each : block) {
      visit(each.where, each.target);
    }
  });
}

}  // namespace whocall
