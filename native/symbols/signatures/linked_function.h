// What two builds of one function have in common.
#pragma once

#include <array>
#include <cstdint>

namespace whocall {

// What a function of a linked file refers to.
enum class LinkedKind : std::uint32_t {
  other,     // nothing that can be told: a place within another function, an address of no section
  function,  // value: which one, counted from the file's first
  data,      // value: a number of its own for each address
  text,      // value: a hash of the constant text that stands there
  import,    // value: a hash of the name that the loader binds
};
inline constexpr std::uint32_t kLinkedKinds = 5;

struct LinkedReference {
  LinkedKind kind = LinkedKind::other;
  std::uint64_t value = 0;
};

// One-permutation MinHash (Li, Owen, Zhang: "One Permutation Hashing", 2012) over all runs of three
// instructions: the share of equal numbers estimates the share of equal runs.
inline constexpr std::uint32_t kEmptySketch = ~std::uint32_t{0};
using CodeSketch = std::array<std::uint32_t, 16>;

struct LinkedFunction {
  std::uint64_t code = 0;    // a hash of its instructions without what linking decides
  std::uint32_t size = 0;    // bytes, without the padding behind it
  std::uint32_t weight = 0;  // how many of them tell something
  CodeSketch sketch{};
  std::uint32_t first_reference = 0;  // in the order of its code
  std::uint32_t references = 0;
};

}  // namespace whocall
