// Makes signatures of static libraries, and of linked programs and libraries that have names.
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
// references to each other are what tells alike functions apart. The names of a linked file may
// stand in its separate debug file, found beside it or where distributions put it. Throws Error
// when one cannot be read, when their instruction sets differ, and when there is no code in them,
// or a linked file has no names.
BuiltSignatures build_signatures(const std::vector<std::string>& paths);

}  // namespace whocall
