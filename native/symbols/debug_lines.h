// Source lines out of a file's debug info.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "object/dwarf_library.h"
#include "object/elf_file.h"
#include "object/source_line.h"
#include "process/process_image.h"

namespace whocall {

// Nothing is looked for, read or inflated before the first line is asked for. One thread at a time.
class DebugLines {
 public:
  DebugLines() = default;
  // `file` has the debug info: the program's file or its separate debug file. Where `search` finds
  // no lists, only directories count.
  DebugLines(std::shared_ptr<const ElfFile> file, const FileSearch& search);

  // Innermost inlined call first; empty without debug info, and where libdw cannot be loaded.
  [[nodiscard]] std::vector<SourceLine> at(Address link);

 private:
  [[nodiscard]] std::unique_ptr<LineTable> open() const;

  std::shared_ptr<const ElfFile> file_;  // null without debug info, and once it has been opened
  FileSearch search_;
  std::unique_ptr<LineTable> lines_;
};

}  // namespace whocall
