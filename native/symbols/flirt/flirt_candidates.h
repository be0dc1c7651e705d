// Where in a program FLIRT's modules may stand: all that fit, true or not.
#pragma once

#include <cstdint>
#include <vector>

#include "base/address.h"
#include "symbols/flirt/flirt_index.h"
#include "symbols/flirt/flirt_program.h"

namespace whocall {

// A call or jump of a module, and where it leads in the program.
struct FlirtBranch {
  FlirtText name = 0;
  Address target = 0;
};

struct FlirtCandidate {
  Address address = 0;  // link address of the module's first byte
  std::uint32_t module = 0;
  std::uint32_t weight = 0;  // bytes that are the same and tell something
  std::vector<FlirtBranch> branches{};
  enum class State : std::uint8_t { open, accepted, refused } state = State::open;

  [[nodiscard]] bool may_be() const { return state != State::refused; }
};

// At starts of functions, ascending. Comparing ends where only files made for it go on.
std::vector<FlirtCandidate> find_flirt_candidates(const FlirtProgram& program,
                                                  const FlirtIndex& index);

}  // namespace whocall
