// `ns::Class::[slot 3]`: functions by their place in the virtual table of a class.
#pragma once

#include <string>
#include <string_view>

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// The slot counts from 0. Of the classes in whose tables a function stands, the one that all others
// descend from lends its name; where there is no such class, or where the function stands in two
// slots of it (functions with equal code that were folded), it stays without a name. A function
// inherited from a class whose own table the file lacks has the name of the heir. Only primary
// tables are read: what stands in the others are mostly thunks. The class is as the compiler writes
// it, "N2ns5ClassE::[slot 3]": of a large file's thousands of names few are shown.
void infer_vtable_names(const NameEvidence& evidence, std::vector<InferredName>& names);

// Such a name as the class's author writes it; empty where the demangler does not take it.
std::string spell_vtable_name(std::string_view name);

}  // namespace whocall
