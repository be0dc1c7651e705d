// The symbol files that make a debugger's own commands right: names of a module's functions, and
// unwinding rules of those that no table covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "process/process_image.h"
#include "symfile/function_symbols.h"
#include "unwind/walk/walker.h"

namespace whocall {

struct RepairFileRequest {
  bool names = true;
  SymbolChoice choice{};
  bool rows = true;
  std::vector<Address> wanted;  // runtime addresses: the rules of their functions come first
  // Then those of the module's other functions, until they were made for so much code, bytes.
  std::uint64_t budget = 0;
  // Runtime addresses in instructions where stacks were found to end, such as the call in a
  // thread's first function; told of code that no table covers, else tables say so.
  std::vector<Address> ends;
  // Where there are rules, names of the module itself too: more rules will come, in files of their
  // own, and then a debugger looks up names in this file alone.
  bool repeat_names = false;
  SymbolFilePlace place = SymbolFilePlace::alone;
  std::unordered_set<Address> known;  // link addresses of functions whose rules are told already
  std::function<void()> check_interrupt;  // called once a function; may throw
};

struct RepairFile {
  std::vector<std::byte> bytes;         // empty when there is nothing to tell
  std::size_t named = 0;                // function symbols with a name
  std::size_t unnamed = 0;              // and those that are called after their address
  std::vector<AddressRange> functions;  // whose rules it has; link addresses, ascending
  bool complete = false;  // it has the rules of every function that needs them and is not known
};

// `module` is one of the walker's process, with a file. Rules are what the analysis of instructions
// computes, for functions that no unwind table covers: a debugger prefers what it finds here to the
// tables that the file has. The same request gives the same bytes.
RepairFile make_repair_file(const Module& module, FileSymbols& names, Walker& walker,
                            const RepairFileRequest& request);

}  // namespace whocall
