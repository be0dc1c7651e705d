// Core files: those of Linux, gdb's gcore and qemu-user.
#pragma once

#include <memory>
#include <string>

#include "process/process_image.h"

namespace whocall {

// Opens a core file. Throws Error (not a core, unknown architecture, unreadable); what is missing
// of a truncated core becomes a warning.
std::unique_ptr<ProcessImage> open_core(const std::string& path, const FileSearch& search);

}  // namespace whocall
