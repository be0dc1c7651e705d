// Brings mappings from sources that may contradict themselves into the order that look-ups need.
#pragma once

#include <vector>

#include "process/process_image.h"

namespace whocall {

// Sorts by address, and cuts or drops what overlaps a mapping that begins lower (of two that begin
// together, the later in the list).
void make_disjoint(std::vector<Mapping>& mappings);

}  // namespace whocall
