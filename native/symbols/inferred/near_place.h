// Which of the places that a function's code names may be told of an address in it.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "symbols/inferred/code_places.h"

namespace whocall {

// `link` lies inside the instruction that is asked about, in `function`. Null where no place is
// sure to be one of the function itself, or of what is inlined right there.
//
// The place that the very call there gets is exact. Otherwise, of C and C++: one in the file that
// most of the function's places are in, headers left out.
//
// Folklore. Situation: what is inlined into a Rust function names the places of its own file, and
// crates inline each other's code. Example: exa's TextCell::paint names unicode-width's tables.rs
// alone. Remedy: a place that several functions name is that of an inlined one, and the standard
// library's say nothing of who calls it. What is left of one file holds between the checks that
// lead there and not far from them, as an inlined function may still be the only one that names a
// place: exa's Options::parse names its parser's three. What is left of several files leaves it
// open which is the function's own, unless one alone is the program's and not a crate's, and two
// places of it are named. Compilers put a file's functions side by side: where the functions before
// and behind name that file as well, a place of it holds anywhere; where neither does, one of a
// crate's file does not hold.
//
// `neighbours` tells how many of these two name places of a file that no others name.
const CodePlace* near_place(std::span<const CodePlace> places, AddressRange function, Address link,
                            const std::function<unsigned(std::string_view file)>& neighbours);

}  // namespace whocall
