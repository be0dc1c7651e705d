// `init_array[2]`: functions by their place among those that run before and after main.
#pragma once

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// The place counts from 0, in the order of the file's array (those of .fini_array run from the last
// to the first). A function that stands in two places has no name.
void infer_array_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
