// Which system calls the sandbox refuses.
#pragma once

#include "base/sandbox_rights.h"
#include "base/syscall_filter.h"

namespace whocall {

// What is not in `rights`, for the process that calls this.
SyscallFilter refused_calls(const SandboxRights& rights);

}  // namespace whocall
