// What stands before a return address.
#pragma once

#include <array>
#include <optional>

#include "arch/code_model.h"
#include "process/process_image.h"

namespace whocall {

// Room for the code before an address.
using CodeBytes = std::array<std::byte, kLongestLook>;

// The `size` bytes of code before `address` (runtime), or as many of them as can be read; from the
// process's own memory, or copied into `room`.
ByteView code_before(const ProcessImage& process, Address address, std::size_t size,
                     CodeBytes& room);

// The call that returns to `return_address`; a miss where none stands before it.
std::optional<CallSite> call_before(const ProcessImage& process, Address return_address);

// Whether code begins at `address`, so that no call can stand before it.
//
// Folklore. Situation: a trampoline that return addresses are replaced by has a page of its own,
// which perhaps nobody can read. Example: [uprobes] of Linux, where the probed functions of a
// process return to. Remedy: its address is no return address, but it is code.
bool begins_code(const ProcessImage& process, Address address);

}  // namespace whocall
