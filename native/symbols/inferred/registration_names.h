// Names that a program registers functions under: in tables of records with a text and a function.
#pragma once

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// "registered[cd]": the function stands beside that text in a table. What Python calls by the name
// of a type or of a module has that: "list.sort". A function that is registered under two names
// gets none.
void infer_registration_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
