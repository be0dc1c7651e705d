// Files that become shorter while they are mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace whocall {

// Situation: a page that lies behind the end of its file cannot be read, and the kernel ends the
// process by SIGBUS. Example: a core that the kernel still writes when a disk runs full, a program
// that is installed anew, a file on a server that goes away; the process is the user's gdb.
// Remedy: a handler of SIGBUS puts zeros in place of the rest of such a mapping, notes it, and the
// work goes on. Its result means nothing; whoever shows one asks cut_files() first. Any other
// SIGBUS goes to the handler that there was before, or ends the process as it would have.
//
// What is returned guards the mapped `pages` of the file `path` as long as it lives; it has to end
// before they are unmapped.
std::shared_ptr<const void> guard_mapping(std::span<const std::byte> pages,
                                          const std::string& path);
using GuardMapping = std::shared_ptr<const void> (*)(std::span<const std::byte> pages,
                                                     const std::string& path);

// How many guarded files have become shorter since the process began, and the last one's path. It
// looks at those that are mapped, too, as the end of a last page reads as zeros without a signal:
// a look costs a microsecond a file.
struct CutFiles {
  std::uint64_t count = 0;
  std::string last;
};
CutFiles cut_files();

}  // namespace whocall
