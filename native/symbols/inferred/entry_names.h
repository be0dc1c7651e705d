// Names of the functions that a program starts and ends with: `_start` and `main`, `_init` and
// `_fini`.
#pragma once

#include <vector>

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// The start-up functions, and _init and _fini, which are what DT_INIT and DT_FINI name, where that
// begins the section of the same name (the linker's -init names others).
void infer_entry_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
