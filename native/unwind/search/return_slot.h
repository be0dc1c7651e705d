// How far below its frame's end a function keeps the return address, where calls leave that in a
// register.
#pragma once

#include <cstdint>
#include <optional>

#include "unwind/judge/judge.h"
#include "unwind/strategy.h"

namespace whocall {

// From the stack word `slot` bytes above the stack pointer of `callee`, which was judged to hold a
// return address, up to the CFA, bytes: by the first exact rule of the called function that tells
// it, or by what stands above. Nothing where neither does, or where calls push the return address
// themselves.
std::optional<std::int64_t> cfa_above_slot(const Activation& callee, std::int64_t slot,
                                           const Judgement& judgement, const WalkContext& context);

// From the stack pointer of `callee`, whose return address still is in the link register, up to its
// CFA, bytes, by what stands above; 0 where that does not tell.
std::int64_t cfa_above_leaf(const Activation& callee, const WalkContext& context);

}  // namespace whocall
