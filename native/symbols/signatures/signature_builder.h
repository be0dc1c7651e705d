// Makes signatures of static libraries.
#pragma once

#include <string>
#include <vector>

#include "symbols/signatures/signature_set.h"

namespace whocall {

struct BuiltSignatures {
  SignatureSet set;
  std::vector<std::string> remarks;  // sentences on members that say nothing, and why
};

// Of all libraries together: those that are linked together belong into one set, because their
// references to each other are what tells alike functions apart. Throws Error when one cannot be
// read, when their instruction sets differ, and when there is no code in them.
BuiltSignatures build_signatures(const std::vector<std::string>& paths);

}  // namespace whocall
