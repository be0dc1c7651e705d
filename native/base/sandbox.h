// A process that reads files of strangers gives up what it does not need, for good: what a file
// could make it do then is as little as that.
#pragma once

#include <sys/types.h>

#include "base/sandbox_rights.h"

namespace whocall {

// Keeps `rights`, and the reading of files, for the calling thread and all that it starts; to be
// called before there are others. As far as the kernel has Landlock and seccomp: where it has
// neither, nothing happens.
//
// Refused calls fail with EACCES or EPERM. What nothing of ours does (a program started, a
// connection, another process traced) ends the process with a sentence on standard error.
void restrict_self(const SandboxRights& rights);

// The kernel ends this process when `parent`, the process that forked it, has ended in whatever
// way. False where that is so already.
bool end_with_parent(pid_t parent);

struct SandboxSupport {
  int landlock = 0;  // the kernel's version of it; 0: none
  bool seccomp = false;
};
SandboxSupport sandbox_support();

}  // namespace whocall
