// Source lines, inlined calls and names of OCaml's code, which stripping leaves: from the frame
// tables by which its runtime finds the values on a stack, and prints its own backtraces.
//
// Source of the format: runtime/caml/frame_descriptors.h and runtime/backtrace_nat.c of OCaml 4.11
// to 5.3, and asmcomp/emitaux.ml, which writes it. A table is a count and a descriptor for each
// place that a call returns to: that address; the size of the frame, with two flags; a count of
// live values and where each is; sizes of what a call of the collector is to make. With -g the
// offset of a debuginfo follows: two words of 32 bits for each inlined call, innermost first, and
// with them the name of the function and the file.
#pragma once

#include <optional>

#include "object/elf_file.h"
#include "symbols/table/name_list.h"

namespace whocall {

// A miss where `file` is no program of OCaml's. Names ("Stdlib__List.map") where the file has no
// symbols for the loader; where it has, nothing is read before the first line is asked for. The
// file must outlive the list.
std::optional<NameList> ocaml_names(const ElfFile& file);

}  // namespace whocall
