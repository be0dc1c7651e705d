// Lists of names that the user gives for modules: "[MODULE=]FILE[@BASE]".
//   MODULE  the module's path or the end of it. Without it: the module whose build id a Breakpad
//           file names, else the one that is called like the list (prog.map, libx.so.1.sym), else
//           the program.
//   FILE    the list, of any format of list_formats.h.
//   BASE    hexadecimal, may be negative: what the list adds to link addresses, such as 100000 for
//   a
//           position-independent program in Ghidra. 0 without it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/elf_file.h"
#include "process/process_image.h"
#include "symbols/external/list_fit.h"
#include "symbols/table/name_list.h"

namespace whocall {

struct SymbolFile {
  std::string module{};  // empty when not given
  std::string path{};
  ListBase base{};
};

// Where "=" and "@" stand in names of files, what exists decides.
SymbolFile parse_symbol_file(const std::string& given);

// "4C4C44F0...0": how Breakpad writes a build id; empty for an empty one. Lower-case hex in,
// upper-case hex out: a GUID whose first three numbers are little-endian, and the age 0.
std::string breakpad_id(std::string_view build_id);

struct SymbolLists {
  std::vector<NameList> lists;
  std::string remark;  // why some lend no names, in sentences; empty otherwise
};

// The lists of search.symbol_files for `file`: those that name no module or this one. Never throws.
SymbolLists symbol_lists_of(const ElfFile& file, const FileSearch& search);

// Which module of a process each of its search.symbol_files is for.
struct StandIn {
  std::size_t module = 0;  // without a file; its index
  std::string path{};      // of a list of Breakpad's for it
};
struct AssignedSymbolFiles {
  std::vector<std::vector<std::string>> by_module;  // FileSearch::symbol_files for each module
  std::vector<StandIn> stand_ins;
  std::vector<std::string> strays;  // sentences on those that are for none or cannot be read
};
AssignedSymbolFiles assign_symbol_files(const ProcessImage& process);

}  // namespace whocall
