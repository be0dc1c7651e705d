// Parts of functions that lie elsewhere (cold code), and the functions that they belong to.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "symbols/discovery/function_starts.h"
#include "symbols/discovery/stack_depths.h"

namespace whocall {

enum class PartKind : std::uint8_t { function, part, unclear };

struct PartOwner {
  PartKind kind = PartKind::function;
  Address function = 0;  // link address of the start: of the function, or of the part's parent
  bool whole = true;     // of a part: nobody else has code between the starts around it
};

// A call in the code of FunctionStarts::function_at(site).
struct PlaceInPart {
  Address start = 0;  // of that code
  Address site = 0;
  bool never_returns = false;
};

class PartParents {
 public:
  // `file` and `starts` have to outlive the object. Looks at all code for jumps once; of code that
  // no unwind table delimits it can tell at `wanted` starts alone.
  PartParents(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts,
              std::span<const Address> wanted);

  // Whose the code around a call is. A part is what nobody enters but by jumps from one function;
  // jumps from several are tail calls.
  //
  // Folklore. Situation: one function may tail-call another that nobody else calls. Example: clang
  // -Os makes of `return g(x);` in f a jump to g. Remedy: a jump that leaves something on the stack
  // is no tail call; nor is one that can only end in a call that never returns, as compilers call
  // what never returns. What goes there and nowhere else decides nothing, and is no function whose
  // part that could be (glibc's __cxa_atexit, of __internal_atexit). Where nothing of this tells
  // and all jumps go to the start, misalignment distinguishes a part, in a file whose functions are
  // aligned; otherwise it is unclear.
  //
  // Folklore. Situation: without unwind tables nothing tells where one part ends and another
  // begins, or the function before it. Example: gcc's cold parts of all functions, which stand one
  // behind the other at the start of .text; since glibc 2.41 they hold the failures of assert().
  // Remedy: a part begins where its function jumps to; what stands before it does not go on there.
  [[nodiscard]] PartOwner owner_of(const PlaceInPart& place);

  // The starts around all jumps into what begins at `start` (one of `wanted`) that really are ones,
  // or may be as far as anybody can tell.
  [[nodiscard]] std::set<Address> jumping_to(Address start);

 private:
  struct Entries {
    std::map<Address, std::set<Address>> sources;  // by target: starts around the jumps
    bool only_at_start = true;

    [[nodiscard]] std::set<Address> all_sources() const;
    [[nodiscard]] std::set<Address> targets() const;
  };

  void find_jumps(std::span<const Address> wanted);
  [[nodiscard]] bool may_hold_parts(Address start) const;
  [[nodiscard]] bool may_be_function(Address start) const;
  [[nodiscard]] std::optional<PartOwner> proven_owner(const PlaceInPart& place,
                                                      const Entries& entries);
  [[nodiscard]] std::optional<Address> proven_source(Address entry, const PlaceInPart& place,
                                                     const std::set<Address>& sources);
  [[nodiscard]] std::set<Address> really_jumping(Address entry, const std::set<Address>& sources);
  [[nodiscard]] bool goes_on_to(Address start, Address entry, const Entries& entries);
  [[nodiscard]] bool leads_to(Address entry, const PlaceInPart& place, const Entries& entries);
  [[nodiscard]] bool is_straight(Address entry, Address site) const;
  const JumpsOut& jumps_of(Address function);

  const ElfFile& file_;
  const Architecture& arch_;
  const FunctionStarts& starts_;
  bool functions_are_aligned_ = false;
  StackDepths depths_;
  std::size_t table_calls_left_;        // of exception tables: many functions may share one
  std::map<Address, Entries> entries_;  // by start
  std::map<Address, JumpsOut> jumps_;   // by start
};

}  // namespace whocall
