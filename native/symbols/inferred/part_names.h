// `visible.cold`: parts of functions that compilers put elsewhere, by the function that goes on
// there.
#pragma once

#include <string>
#include <string_view>

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// Whether an unwind table says that what starts at `start` (a link address) begins with a frame
// that somebody else has made. Linkers' tables of PLT slots say so, too; they are none of this.
bool begins_within_frame(const ElfFile& file, const Architecture& arch, Address start);

// Names of parts as function_of_part() reads them: which function's they are, whose own name the
// other sources tell.
//
// Folklore. Situation: what is seldom run lies apart, and programs fail there; stripped, it is as
// nameless as a function of its own. Example: gcc's visible.cold calls a function that ends the
// program, or is where an exception lands in `visible`. Remedy: no tail call leads to what begins
// with a frame; if nothing calls it or takes its address, and all jumps and all exceptions that
// lead there come from one function, it is a part of that one.
void infer_part_names(const NameEvidence& evidence, std::vector<InferredName>& names);

// The start of that function, a link address.
Address function_of_part(std::string_view name);

// "f().cold" for a part of the function with that symbol; empty where that would be too long.
std::string name_of_part(std::string_view symbol);

}  // namespace whocall
