// Parts of functions that lie elsewhere (cold code), and the functions that they belong to.
#pragma once

#include <map>
#include <vector>

#include "symbols/function_starts.h"

namespace whocall {

enum class PartKind : std::uint8_t { function, part, unclear };

struct Home {
  PartKind kind = PartKind::function;
  Address function = 0;  // link address of the start: of the function, or of the part's parent
};

class PartParents {
 public:
  // `starts` has to outlive the object. Looks at all code for jumps once.
  PartParents(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts);

  // Of what starts at `start`. A part is what nobody enters but by jumps from one function; where
  // these jumps may as well be tail calls (they all go to its start, which is aligned as functions
  // are), or come from several functions, it is unclear what it is.
  [[nodiscard]] Home home_of(Address start) const;

 private:
  struct Entries {
    std::vector<Address> sources;  // starts around the jumps, without repetitions
    bool only_at_start = true;
  };

  const Architecture& arch_;
  const FunctionStarts& starts_;
  std::map<Address, Entries> entries_;  // by start
};

}  // namespace whocall
