// Source lines out of a file's debug info.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "object/dwarf_library.h"
#include "object/elf_file.h"
#include "object/source_line.h"
#include "process/process_image.h"
#include "symbols/kept_lines.h"

namespace whocall {

// Nothing is looked for, read or inflated before the first line is asked for. One thread at a time.
class DebugLines {
 public:
  DebugLines() = default;
  // `debug_info`, of the code of `file`, is the file itself or its separate debug file; null when
  // there is none. Where `search` finds no lists, only directories count.
  DebugLines(const ElfFile& file, std::shared_ptr<const ElfFile> debug_info,
             const FileSearch& search);

  // Innermost inlined call first; empty without debug info, and where libdw cannot be loaded.
  [[nodiscard]] std::vector<SourceLine> at(Address link);
  // Writes down for other processes what was read here.
  void keep_answers() noexcept { kept_.save(); }

 private:
  [[nodiscard]] std::unique_ptr<LineTable> open() const;

  std::shared_ptr<const ElfFile> file_;  // null without debug info, and once it has been opened
  FileSearch search_;
  std::unique_ptr<LineTable> lines_;
  KeptLines kept_;
};

}  // namespace whocall
