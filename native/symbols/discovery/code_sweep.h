// Functions to which nothing refers, or jumps alone: code behind the end of another function.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arch/instruction.h"
#include "object/elf_file.h"
#include "symbols/discovery/code_pointers.h"
#include "symbols/discovery/function_alignment.h"

namespace whocall {

// Folklore. Situation: a library is linked whole, and nobody calls half of it; or a function is
// only ever the end of another one (`return g(x);`). No call and no pointer leads there, and where
// the compiler aligned nothing, no padding does either. Example: gcc -O0 and -Os, clang -Os; bad()
// that a constructor jumps to. Remedy: read each function from its start to where the next one is
// known to begin. Behind an instruction that never goes on, to which no jump of what stands before
// it leads, another function begins, as what a function consists of is reached from its start: from
// earlier code, that is, or from what earlier code reaches.
class CodeSweep {
 public:
  // All but `taken`, the addresses that instructions take, must outlive the object.
  CodeSweep(const ElfFile& file, const Architecture& arch, const CodePointers& pointers,
            const FunctionAlignment& alignment, std::vector<Address> taken);
  ~CodeSweep();

  // Reads code from `range.begin`, where a function begins, to its end; link addresses. Up to where
  // it could be read, which is not all of it where data lie in between.
  // `known`: what begins at the end is a function, rather than something else or nothing.
  // `doubtful`: starts inside the range that only one call, pointers or guesses tell of; ascending.
  Address read(const AddressRange& range, bool known, std::span<const Address> doubtful);

  // What was found; ascending.
  [[nodiscard]] std::vector<Address> starts() const;
  // Whether a jump goes over this doubtful one, in one function: it is the start of none.
  [[nodiscard]] bool refutes(Address doubtful) const { return refuted_.contains(doubtful); }
  // Whether the instruction before this doubtful one goes on into it.
  [[nodiscard]] bool falls_into(Address doubtful) const { return fallen_into_.contains(doubtful); }
  // Whether an instruction that was read calls what is there.
  [[nodiscard]] bool calls(Address target) const {
    const auto found = calls_.find(target);
    return found != calls_.end() && found->second.all != 0;
  }

 private:
  struct Candidate {
    Address start = 0;
    std::optional<Address> behind_call{};  // counts only where what is called never returns
    bool padded = false;
  };
  struct Calls {
    std::uint32_t all = 0;
    std::uint32_t last = 0;      // right before another function
    bool never_returns = false;  // by its own code
  };
  class Function;

  [[nodiscard]] bool never_returns(Address target) const;

  [[nodiscard]] bool may_begin(Address at, bool padded, bool returned) const;
  [[nodiscard]] bool begins_as_functions_do(Address at) const;
  [[nodiscard]] StartFeatures features_at(Address at, const AddressRange& function) const;
  [[nodiscard]] bool are_aligned_at(Address at) const;
  [[nodiscard]] Address behind_zeros(Address at, Address end) const;
  [[nodiscard]] Address last_case_before(Address end) const;

  const ElfFile& file_;
  const Architecture& arch_;
  const CodePointers& pointers_;
  const FunctionAlignment& alignment_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::vector<Address> cases_;  // ascending
  std::vector<Address> taken_;
  std::vector<Candidate> found_;              // ascending
  std::unordered_map<Address, Calls> calls_;  // by target
  std::unordered_set<Address> jumped_to_;     // from other functions
  std::unordered_set<Address> refuted_;
  std::unordered_set<Address> fallen_into_;
  std::size_t asked_ = 0;
};

}  // namespace whocall
