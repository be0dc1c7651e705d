// A module of which nothing is known but what somebody lists.
#pragma once

#include <string>

#include "base/address.h"

namespace whocall {

// A module as a dump without headers in memory lists it (a minidump).
struct ToldModule {
  AddressRange range;  // runtime addresses
  bool is_executable = false;
  std::string build_id;  // lower-case hex; may be empty
  std::string path;      // as the process names it; may be a library's own name alone
};

}  // namespace whocall
