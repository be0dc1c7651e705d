// Where a program was loaded, found out from the addresses on a stack alone.
//
// Folklore. Situation: a program prints runtime addresses, and neither files nor mappings. Example:
// a Rust program that panics prints 0x55b5b69e6a64, 0x55b5b69e6a98 and eighteen others; its file
// has calls that end at 0x7a64 and 0x7a98, and the others fit as well: it was loaded at
// 0x55b5b69df000. Remedy: each address is where a call returns to, and programs are loaded at whole
// pages: so of all load addresses only those count for which a call instruction stands before every
// address that then lies in the program's code. With half a dozen addresses one is left; it is
// taken only where chance would hardly ever give it. A program that is not moved lies at its link
// addresses, or it is another one.
#pragma once

#include <optional>
#include <span>

#include "arch/architecture.h"
#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// Runtime address minus link address of the program on whose stack these return addresses were, in
// any order; a miss where they do not tell. One of them may be where a signal interrupted it.
std::optional<Address> load_bias(const ElfFile& file, const Architecture& arch,
                                 std::span<const Address> return_addresses);

}  // namespace whocall
