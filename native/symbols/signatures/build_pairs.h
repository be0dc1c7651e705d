// Which function of a program is which of another build: the proof.
//
// Code that is the same but for what linking decides, is much, and stands once in each build is a
// proof. What is short, has changed, or stands in several places is proved by others:
//   - functions that are known call it, or refer to it, at the same place of their code,
//   - what it calls and refers to is known to be the same (functions, data, texts, imports),
//   - it lies between two neighbours that are known, where nothing else could be it.
// What would contradict those is no pair, and of two that cannot be told apart neither is.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "symbols/signatures/linked_build.h"

namespace whocall {

// By the program's functions: the same function in `known`, or kNoPair. `sure` are pairs (known,
// program) that something else tells: both export that name.
std::vector<BuildPair> pair_builds(const LinkedBuild& known, const LinkedBuild& program,
                                   std::span<const std::pair<std::uint32_t, std::uint32_t>> sure);

}  // namespace whocall
