// The epilogues of a function in a PE file of x86-64, known by their bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_view.h"
#include "object/pe_frame_writer.h"

namespace whocall {

struct PeEpilogue {
  std::uint32_t begins = 0;         // where all but the pushed registers is off the stack
  std::vector<std::uint32_t> pops;  // behind each
  std::uint32_t ends = 0;           // behind the return or jump
};

// In the order of addresses, which are bytes from the function's beginning. An epilogue has the
// bytes of `add rsp` or `lea rsp`, of the pops in the reverse order of the pushes, and of a return
// or a jump. Where such bytes are a part of other instructions no program counter ever stands
// between them: so it does no harm to take these for one.
// At most `most` of them.
std::vector<PeEpilogue> find_pe_epilogues(ByteView code, const PeFrameWriter& frame,
                                          std::size_t most);

}  // namespace whocall
