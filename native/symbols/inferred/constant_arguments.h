// Calls that hand over the addresses of constants.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "symbols/discovery/function_starts.h"

namespace whocall {

inline constexpr unsigned kMostConstantArguments = 6;

// Link addresses throughout.
struct ConstantCall {
  Address site = 0;      // of the call instruction or the jump that is one
  Address function = 0;  // where the code around it starts
  Address callee = 0;    // the function, or the word that holds its address
  // By position, from 0; 0 where the argument is no constant address, or nobody knows.
  std::array<Address, kMostConstantArguments> arguments{};
};

// The calls in the file's code that get an address for which `of_interest` holds; addresses of
// other read-only data are among their arguments. Decodes only what lies between the instructions
// that take such addresses and the next calls; a call that is reached in two ways may stand there
// twice. Without `starts`, which cost much, these calls and more: every jump counts as a call as
// well, and a call's function is the place where the first of its constants was taken.
std::vector<ConstantCall> constant_calls(const ElfFile& file, const Architecture& arch,
                                         const FunctionStarts* starts,
                                         const std::function<bool(Address)>& of_interest);

// What has to be looked at to see every instruction of a part of a code area as who looks at the
// whole area does: the byte before it may be a prefix, and the last one may end behind it.
AddressRange with_surroundings(const AddressRange& area, const AddressRange& part);

// The instructions in a part of a code area that take addresses of constants: those that
// constant_calls() begins with, some of them only bytes of others. Empty where an instruction set
// does not tell.
std::vector<ConstantAddress> constant_addresses(const ElfFile& file, const Architecture& arch,
                                                const AddressRange& area, const AddressRange& part);

}  // namespace whocall
