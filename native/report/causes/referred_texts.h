// What texts the code of a frame's function refers to: of a stripped program they tell which
// function of a runtime it is.
//
// Folklore. Situation: a runtime is linked into a stripped program, so that nothing is named.
// Example: every program of Rust's, `-static` ones of C++. Remedy: the function that gives up holds
// the words that it says, `terminate called without an active exception`: its instructions lead
// there, right away or by a pointer among the constants.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "report/causes/scene.h"

namespace whocall {

// The first of the texts, each at least a byte long, that the function at a level refers to as the
// beginning of a constant; a miss where it refers to none, where the frame is an inlined call, or
// where no function is known. Of a function's code kLargestSpeaker bytes are looked at.
std::optional<std::size_t> referred_text(const Scene& scene, std::size_t level,
                                         std::span<const std::string> wanted);

inline constexpr std::size_t kLargestSpeaker = std::size_t{1} << 14U;  // bytes

}  // namespace whocall
