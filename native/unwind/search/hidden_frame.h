// What is known of a frame whose own code address is lost, as the word that held it was
// overwritten.
#pragma once

#include <optional>

#include "unwind/strategy.h"

namespace whocall {

// Where the frame of `callee` ends by the exact rule for it, however damaged the return address
// there is; nothing where no rule tells.
std::optional<Address> end_of_own_frame(const Activation& callee, const WalkContext& context);

// Whether the function at `called` has a frame of exactly `size` bytes where it calls the function
// of `callee`, or may do so.
bool has_frame_of(Address called, std::uint64_t size, const Activation& callee,
                  const WalkContext& context);

}  // namespace whocall
