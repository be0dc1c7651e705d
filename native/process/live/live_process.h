// A running process of this machine, held still by ptrace.
#pragma once

#include <cstdint>
#include <memory>

#include "process/process_image.h"

namespace whocall {

// Takes a snapshot of a running process: attaches to every thread, reads registers, and stays
// attached (the process stopped) until the image is destroyed. Throws Error.
std::unique_ptr<ProcessImage> open_process(std::int64_t pid, const FileSearch& search);

}  // namespace whocall
