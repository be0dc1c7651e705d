// System calls as text, the way strace has them: "futex(0x7f21..., FUTEX_WAIT_PRIVATE, 2, NULL)".
#pragma once

#include <string>

#include "process/process_image.h"
#include "waits/kernel_call.h"

namespace whocall {

// Empty for a call whose name is not known and that has no number. Paths are read from the memory
// of the process; all of it is printable.
std::string call_text(const ProcessImage& process, const KernelCall& call);

}  // namespace whocall
