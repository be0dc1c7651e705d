// Finds the separate debug file of a module's file.
#pragma once

#include <memory>
#include <string>

#include "files/file_search.h"
#include "object/elf_file.h"

namespace whocall {

struct DebugFile {
  std::shared_ptr<const ElfFile> file;  // null when there is none
  // Why a file that was there lends nothing, and why debuginfod did not help, in sentences; empty
  // when none was refused, and when another one was found.
  std::string remark;
};

// Looks where gdb looks ("Separate Debug Files" in its manual): by build id as
// DIR/.build-id/xx/yyyy.debug under each debug directory, then by .gnu_debuglink beside the file,
// in .debug/ there, and under each debug directory with the file's own directory behind it. Debug
// directories are tried below the sysroot first. The user's directories follow, by build id and by
// the link's name, and last comes debuginfod for files that hold no debug info themselves. A file
// counts when it has the build id of `file`; one that the link names must have the link's check sum
// as well. Nothing but debuginfod's watch throws.
DebugFile find_debug_file(const ElfFile& file, const FileSearch& search);

}  // namespace whocall
