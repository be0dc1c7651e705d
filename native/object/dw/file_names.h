// Paths of source files as gdb shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "object/dw/libdw.h"

namespace whocall {

// The files of one unit's line table.
//
// The rule is gdb's (dwarf2_start_subfile in its dwarf2/read.c, buildsym_compunit): the file's name
// in the table, joined to its directory there unless it is absolute; the unit's own source file,
// where both lead to the same absolute path, is DW_AT_name. Before DWARF 5 a file of directory 0,
// the compilation directory, keeps its name alone.
//
// Folklore. Situation: DW_AT_comp_dir is relative. Example: glibc of Debian is compiled in
// "./nptl"; joining that to "./nptl/pthread_kill.c" once more, as libbfd does, names a path that is
// nowhere. Remedy: nothing is joined that the line table does not join.
class FileNames {
 public:
  // `files` may be null.
  FileNames(Dwarf_Die& unit, Dwarf_Half version, Dwarf_Files* files, std::size_t count);

  // Of the file with an index in the table; empty when there is none.
  [[nodiscard]] std::string shown(std::size_t index) const;
  // The same of the name that libdw gives a file: joined to its directory, whichever that is.
  [[nodiscard]] std::string shown(const char* joined) const;
  // Where such a file lies, if it is relative: DW_AT_comp_dir; else empty.
  [[nodiscard]] std::string directory_of(std::string_view shown) const;

 private:
  [[nodiscard]] std::string_view in_table(std::string_view joined) const;
  [[nodiscard]] bool is_main(std::string_view file) const;

  Dwarf_Files* files_;
  std::size_t count_;
  Dwarf_Half version_;
  std::string main_;                           // DW_AT_name
  std::string directory_;                      // DW_AT_comp_dir with a slash behind it, or empty
  std::vector<std::string_view> directories_;  // of the table, without the first
};

}  // namespace whocall
