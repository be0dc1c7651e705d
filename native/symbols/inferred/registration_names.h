// Names that a program registers functions under: in tables of records with a text and a function.
#pragma once

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// "registered[cd]": the function stands beside that text in a table. What Python calls by the name
// of a type or of a module has that: "list.sort". A function that is registered under two names
// gets none.
//
// Folklore. Situation: a function that many tables share has a row of its own in one that is found.
// Example: gdb's table of x86 instructions, {"popP", {OP_REG, ...}}; options of git, which share
// what parses them. Remedy: a function that other words lead to as well has no name by a text.
void infer_registration_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
