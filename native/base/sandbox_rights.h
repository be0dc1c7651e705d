// What a process in the sandbox keeps, beside reading files.
#pragma once

#include <string>
#include <vector>

namespace whocall {

struct SandboxRights {
  std::vector<std::string> writable;  // files, and directories with all below them
  bool network = false;               // other machines, not services of this one
  bool programs = false;              // to start them; what they may do is as little
  bool processes = false;             // to read what others have in memory
  bool children = false;              // to end processes that this one has forked
};

}  // namespace whocall
