// A place where a function begins, and what tells so.
#pragma once

#include "base/address.h"
#include "symbols/discovery/start_evidence.h"

namespace whocall {

struct FunctionStart {
  Address address = 0;  // link address
  StartEvidenceSet evidence;
};

}  // namespace whocall
