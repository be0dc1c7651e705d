// The functions of a linked file as another build of it is compared with, and pairs of such.
#pragma once

#include <cstdint>
#include <span>

#include "symbols/signatures/linked_function.h"

namespace whocall {

struct LinkedBuild {
  std::span<const LinkedFunction> functions;  // in the order of their addresses
  std::span<const LinkedReference> references;
};

inline constexpr std::uint32_t kNoPair = ~std::uint32_t{0};

// What shows that two functions are one.
enum class PairProof : std::uint8_t {
  given,       // the caller says so
  code,        // the same code, and nothing speaks against it
  references,  // functions that are known refer to it, and its code is much alike
  place,       // it lies between the same neighbours, and its code is much alike
};

struct BuildPair {
  std::uint32_t known = kNoPair;
  PairProof proof = PairProof::given;
};

}  // namespace whocall
