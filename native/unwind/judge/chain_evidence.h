// Whether the chain of frame pointers is so regular that it is believed without calls before its
// return addresses.
//
// Folklore. Situation: machines that run in the process return by addresses that they make up.
// Example: HotSpot's interpreter pushes the address of a table's entry, 1,600 frames deep; no call
// stands before it. Remedy: a chain that goes up through several frames, each with a return address
// in code, does not come about by chance.
#pragma once

#include "process/process_image.h"
#include "unwind/rows/activation.h"

namespace whocall {

// From the frame pointer of `callee` on: several links, or fewer that end behind a call in the code
// of a file.
bool chain_holds(const Activation& callee, const ProcessImage& process);

}  // namespace whocall
