// The function that position-independent code calls through the register which is kept for that
// (MIPS: t9), by what the code before the call puts into it: a word of the global offset table, or
// an address that it counts from one.
#pragma once

#include <vector>

#include "base/address.h"
#include "process/process_image.h"

namespace whocall {

// The runtime addresses that may have been called from right before `return_address`; empty where
// the code there does not tell. It is read in the order in which it stands, and as the jumps in it
// lead: others may lead into it, so that they speak for a match alone and never against one.
//
// Folklore. Situation: several calls share one instruction, and each loads what it calls before it
// jumps there. Example: the cases of a switch, by gcc -Os.
std::vector<Address> loaded_callees(const ProcessImage& process, Address return_address);

}  // namespace whocall
