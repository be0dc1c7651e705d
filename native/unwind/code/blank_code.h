// Code that was blanked: zeros where a table or a section tells that code is.
//
// Folklore. Situation: files are reduced before they are kept or sent. Example: `objcopy
// --only-keep-debug` in place of the program; libraries of which only the unwind tables are left,
// all code zero. Remedy: zeros are no instructions that were run, so what they say of calls and
// frames counts as little as bytes that cannot be read.
#pragma once

#include "process/process_image.h"
#include "unwind/code/code_map.h"

namespace whocall {

// Whether the code around `address` (runtime) was blanked.
bool is_blank_code(Address address, const ProcessImage& process, CodeMap& code);

}  // namespace whocall
