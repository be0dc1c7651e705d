// Parts of functions that lie elsewhere (cold code), and the functions that they belong to.
#pragma once

#include <map>
#include <vector>

#include "symbols/starts/function_starts.h"

namespace whocall {

enum class PartKind : std::uint8_t { function, part, unclear };

struct PartOwner {
  PartKind kind = PartKind::function;
  Address function = 0;  // link address of the start: of the function, or of the part's parent
};

class PartParents {
 public:
  // `starts` has to outlive the object. Looks at all code for jumps once.
  PartParents(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts);

  // Of what starts at `start`. A part is what nobody enters but by jumps from one function; jumps
  // from several are tail calls.
  //
  // Folklore. Situation: one function may tail-call another that nobody else calls. Example: clang
  // -Os makes of `return g(x);` in f a jump to g. Remedy: where all jumps go to the start, only
  // misalignment distinguishes a part, in a file whose functions are aligned; otherwise it is
  // unclear.
  [[nodiscard]] PartOwner owner_of(Address start) const;

 private:
  struct Entries {
    std::vector<Address> sources;  // starts around the jumps, without repetitions
    bool only_at_start = true;
  };

  [[nodiscard]] bool may_be_function(Address start) const;

  const Architecture& arch_;
  const FunctionStarts& starts_;
  bool functions_are_aligned_ = false;
  std::map<Address, Entries> entries_;  // by start
};

}  // namespace whocall
