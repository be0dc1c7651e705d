// Where a null pointer came from, in words.
#pragma once

#include <string>
#include <string_view>

#include "report/scene.h"

namespace whocall {

// Behind "the null pointer in rdi" of the innermost frame's instruction: ", that find returned to
// #1, which handed it over". Empty where the code does not tell.
std::string null_origin(const Scene& scene, std::string_view reg);

// The same of the address that frame #1 called.
std::string null_target_origin(const Scene& scene);

}  // namespace whocall
