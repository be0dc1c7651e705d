// What a core leaves out because the files of its modules have it.
#pragma once

#include <memory>

#include "memory/memory.h"
#include "process/process_image.h"

namespace whocall {

// Sets image.memory: `memory`, and below it the read-only segments of the modules' files, which is
// what a core leaves out because the file has it. Writable segments are not among it: what the
// process made of them is unknown.
void put_memory(ProcessImage& image, std::unique_ptr<Memory> memory);

}  // namespace whocall
