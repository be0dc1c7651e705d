// Landlock (Linux 5.13 and later): a process gives up rights to files and to other processes.
#pragma once

#include <string>
#include <vector>

namespace whocall {

// The kernel's version of it; 0 where there is none.
int landlock_version();

struct LandlockRights {
  std::vector<std::string> writable;  // files, and directories with all below; absent ones: nothing
  bool network = false;
  bool programs = false;
};

// Of what Landlock knows this thread, and whatever it starts, keeps these rights and reading.
// Nothing else can be written, made, moved, removed or executed, no TCP port bound or connected to;
// processes outside can be sent no signals, and nothing of theirs can be read (ptrace, most of
// /proc/PID). Tells whether the kernel has taken it, as far as its version goes; new privileges
// have to be given up before.
bool restrict_by_landlock(const LandlockRights& rights);

}  // namespace whocall
