// What ARM code tells about functions and calls. Each answers the question of CodeModel by the same
// name.
#pragma once

#include <vector>

#include "arch/code_model.h"

namespace whocall::arm {

std::optional<CallSite> call_before(ByteView before, Address return_address);
void append_start_marks(ByteView code, Address address, StartMarks& marks);
StartFeatures features_at_start(ByteView code, std::uint64_t at);
bool flow_ends(ByteView before);
void append_direct_jumps(ByteView code, Address address, AddressRange wanted,
                         std::vector<DirectJump>& jumps);

}  // namespace whocall::arm
