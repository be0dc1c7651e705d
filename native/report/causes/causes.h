// What led to a crash, as far as the process proves it.
#pragma once

#include <vector>

#include "report/causes/scene.h"

namespace whocall {

// All that is known without the last words of the program's runtime, the most telling first.
std::vector<Fact> causes(const Scene& scene);

}  // namespace whocall
