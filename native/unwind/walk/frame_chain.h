// The frame-pointer chain over raw stack bytes, without anything else being known.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"

namespace whocall {

struct ChainLink {
  Address pc = 0;   // the return address
  Address cfa = 0;  // of the frame that it returns from
};

// Follows the chain from the frame-pointer register while it moves up through readable memory,
// innermost first. Return addresses are taken as they stand: nothing tells what is code here.
std::vector<ChainLink> decode_frame_chain(const Architecture& arch, const Registers& registers,
                                          const Memory& memory);

}  // namespace whocall
