// Where the value of a register came from: which frames handed it on, and what made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/address.h"

namespace whocall {

struct ValueOrigin {
  enum class Kind : std::uint8_t {
    handed_over,  // the frame gave it to the next inner one; what made it is not known
    constant,     // the frame's code has it
    returned,     // a function that the frame called
    loaded,       // from memory
  };
  Kind kind = Kind::handed_over;
  std::size_t frame = 0;             // index
  std::optional<Address> called{};   // `returned`: where the call went, which may lead on
  std::optional<Address> address{};  // `loaded`: where from, where that is sure
};

}  // namespace whocall
