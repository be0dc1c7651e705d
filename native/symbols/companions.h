// Files that hold names for another one: its separate debug file, and the small symbol table that
// some distributions leave in a stripped file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "object/elf_file.h"
#include "process/process_image.h"
#include "symbols/name_list.h"

namespace whocall {

// Of the same build, with the same link addresses. Only its .symtab and .debug_frame say anything:
// all that is loaded has been taken out of it.
struct Companion {
  std::shared_ptr<const ElfFile> file;
  NameSource source = NameSource::none;  // of its names
};

struct Companions {
  std::vector<Companion> files;
  std::vector<NameList> lists;
  std::string remark;  // why one that was there lends no names, a sentence; empty otherwise

  // The path of the separate debug file; empty when there is none.
  [[nodiscard]] std::string debug_file() const;
};

// All that `file` has on this machine. Nothing but debuginfod's watch throws.
Companions companions_of(const ElfFile& file, const FileSearch& search);

// The ELF image in .gnu_debugdata ("MiniDebugInfo" in gdb's manual), unpacked; null when there is
// none. `remark` receives a sentence when there is one that cannot be used.
std::shared_ptr<const ElfFile> read_gnu_debugdata(const ElfFile& file, std::string& remark);

}  // namespace whocall
