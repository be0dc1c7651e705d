// Where stacks begin.
#pragma once

#include <optional>
#include <string>

#include "process/process_image.h"
#include "unwind/code/code_map.h"
#include "unwind/rows/activation.h"

namespace whocall {

// A phrase that names the function when `activation` stands in one that nobody called (the entry
// point of the program or of its dynamic linker, or where a new thread begins). Asked where no
// unwind table covers it; tables say the same by themselves.
std::optional<std::string> outermost_function(const Activation& activation,
                                              const ProcessImage& process, CodeMap& code);

}  // namespace whocall
