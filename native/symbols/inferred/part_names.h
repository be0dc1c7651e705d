// `visible.cold`: parts of functions that compilers put elsewhere, by the function that goes on
// there.
#pragma once

#include <string>
#include <string_view>

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// Whether an unwind table says that what starts at `start` (a link address) begins with a frame
// that somebody else has made.
bool begins_within_frame(const ElfFile& file, Address start);

// Names of parts as function_of_part() reads them: which function's they are, whose own name the
// other sources tell.
//
// Folklore. Situation: what is seldom run lies apart, and programs fail there; stripped, it is as
// nameless as a function of its own. Example: gcc's visible.cold calls a function that ends the
// program, or is where an exception lands in `visible`. Remedy: a table that begins with a frame is
// of no function that is called, and no tail call leads there; if all jumps and all exceptions come
// from one function, it is a part of that one.
void infer_part_names(const NameEvidence& evidence, std::vector<InferredName>& names);

// The start of that function, a link address.
Address function_of_part(std::string_view name);

}  // namespace whocall
