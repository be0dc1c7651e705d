// Where the files and names of a process are looked for, as the user says it.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace whocall {

class Debuginfod;

// Where to look for files that a process names.
struct FileSearch {
  std::string exe;                       // given by the user; empty: by the core's notes
  std::string sysroot;                   // put before absolute paths; empty: none
  std::vector<std::string> directories;  // searched by file name, then by build id
  // Of separate debug files: searched as DIR/.build-id/xx/yyyy.debug, and by debug link.
  std::vector<std::string> debug_directories;
  // Lists of names for modules, "[MODULE=]FILE[@BASE]" (symbol_files.h).
  std::vector<std::string> symbol_files;
  std::vector<std::string> signature_files;  // of static libraries (signature_names.h)
  std::shared_ptr<Debuginfod> debuginfod;    // null: no server is asked for what is missing
};

}  // namespace whocall
