// `ns::Class::[slot 3]`: functions by their place in the virtual table of a class.
#pragma once

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// The slot counts from 0. Of the classes in whose tables a function stands, the one that all others
// descend from lends its name; where there is no such class, or where the function stands in two
// slots of it (functions with equal code that were folded), it stays without a name. A function
// inherited from a class whose own table the file lacks has the name of the heir. Only primary
// tables are read: what stands in the others are mostly thunks.
void infer_vtable_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
