// A function, or what is known of one.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/address.h"

namespace whocall {

// Where a name (or, for fde and call_target, only the bounds of a function) comes from; best first.
enum class NameSource : std::uint8_t {
  symtab,
  dynsym,
  debug_file,     // .symtab of a separate debug file of the same build
  gnu_debugdata,  // .symtab of the image in .gnu_debugdata
  pclntab,        // the function table of the Go runtime
  objc,           // the methods that a file hands to the Objective-C runtime
  plt,
  bfd,
  symbol_file,   // a list that the user gave: a linker map, nm's output, a decompiler's export
  jit_object,    // .symtab of an ELF file that a JIT compiler made for debuggers, in memory
  jitdump,       // what a JIT compiler wrote down of its code
  perf_map,      // the same, without the code: /tmp/perf-PID.map
  entry,         // the file's entry point, and the main that it hands to the C library
  vtable,        // the slot of a class's virtual table in which the function stands
  signature,     // the code of a function in a static library that the user gave
  frametable,    // what OCaml's frame tables say of a function's calls
  message,       // the name that a function passes to its own failed assertions
  registration,  // the text beside which it stands in a table of the program
  initializer,   // the place among the functions that run before and after main
  part,          // the function whose part it is, which lies elsewhere
  fde,
  call_target,
  none
};

// "symtab", "debug-file", "gnu-debugdata", ..., "none": the word in JSON.
std::string_view to_string(NameSource source);

// Whether names of this source were concluded from the code and its data and not written down as
// names: every output marks them.
bool is_inferred(NameSource source);

struct Symbol {
  AddressRange range;     // link addresses; empty when the symbol covers nothing
  std::string_view name;  // mangled; empty for a function known by its bounds only
  NameSource source = NameSource::none;
  bool global = false;  // global or weak binding
  bool weak = false;
  bool exact_end = true;  // the end comes from the symbol's own size, not from its neighbour
};

}  // namespace whocall
