// Names of code that a compiler put into the memory of a process while it ran. They belong to the
// process and not to a file: all addresses are runtime addresses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "process/process_image.h"
#include "symbols/jit/jit_functions.h"

namespace whocall {

class JitNames {
 public:
  // Opens nothing yet. The process must outlive the object.
  explicit JitNames(const ProcessImage& process) : process_(process) {}

  // The function at an address of executable memory that no file is behind; null when none is
  // known. The first such address makes it look for
  //   - JIT objects: the ELF files that compilers register for debuggers (jit_objects.h);
  //   - jitdumps: the files jit-PID.dump among the mappings, which compilers map for `perf record`
  //     to see; also by name in the directories to search and beside the core. A function is
  //     believed when memory has its code, as far as it can be read;
  //   - perf maps: of a live process /tmp/perf-PID.map as the process sees it, when its owner is
  //     the process's or root; for a core in the directories to search, under the sysroot and
  //     beside the core, and in /tmp when it is not newer than the core and most of its functions
  //     lie in such memory of the core.
  // Never throws.
  const JitFunction* at(Address runtime);

  // The bounds of the function by a JIT object, whose compiler knew them; a miss otherwise.
  std::optional<AddressRange> registered_function_at(Address runtime);

  // All functions that are known, those in modules with a file included; looks likewise.
  const JitFunctions& all();

  // Its source line; empty when none is known.
  [[nodiscard]] std::vector<SourceLine> lines_at(const JitFunction& function,
                                                 Address runtime) const;

  // On what was found but not believed, sentences; empty before the first `at`.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void load();
  void load_logs();

  const ProcessImage& process_;
  bool loaded_ = false;
  JitFunctions functions_;
  std::vector<std::string> remarks_;
};

}  // namespace whocall
