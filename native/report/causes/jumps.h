// Control that went to where no code is: by a call, by a return, or by a jump.
#pragma once

#include <optional>

#include "report/causes/scene.h"

namespace whocall {

// pc stands where no code is: a call of a pointer that leads nowhere, or a return.
std::optional<Fact> jump_to_no_code(const Scene& scene);

// x86-64's return faults itself where its address is one that no pointer can have.
std::optional<Fact> return_to_no_code(const Scene& scene);

}  // namespace whocall
