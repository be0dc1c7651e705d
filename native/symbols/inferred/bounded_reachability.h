// How soon a function comes to certain of its instructions.
#pragma once

#include <memory>
#include <unordered_set>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

// A path that ends: decisions and calls from a function's start to a place in it. Calls in the
// straight line before the place do not count: they prepare what is done there.
struct ReachabilityLimits {
  unsigned branches = 0;
  unsigned calls = 0;
  unsigned instructions = 0;
};

class BoundedReachability {
 public:
  BoundedReachability(const ElfFile& file, const Architecture& arch);
  ~BoundedReachability();
  BoundedReachability(const BoundedReachability&) = delete;
  BoundedReachability& operator=(const BoundedReachability&) = delete;

  // Whether a path from `start` comes to one of `sites` within the limits. Link addresses.
  bool reaches(Address start, const std::unordered_set<Address>& sites, ReachabilityLimits limits);

 private:
  bool returns_at_once(Address callee);
  bool follow(Address at, const std::unordered_set<Address>& sites, ReachabilityLimits left);

  const ElfFile& file_;
  std::unique_ptr<InstructionDecoder> decoder_;
};

}  // namespace whocall
