// What is known on the way from a call to the return: see return_flow.h.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/followed_values.h"
#include "base/address.h"

namespace whocall {

// A value by what registers and memory hold when the call comes back.
struct ReturnValue {
  enum class Kind : std::uint8_t {
    unknown,
    in_register,  // base + offset
    in_word,      // the word at base + slot, + offset
    in_far_word,  // the word at (the word at base + slot) + offset
  };
  Kind kind = Kind::unknown;
  Register base = 0;
  std::int64_t slot = 0;    // bytes
  std::int64_t offset = 0;  // bytes
};

using ReturnKind = ReturnValue::Kind;

// A word that was stored on the way.
struct StoredWord {
  Register base = 0;
  std::int64_t slot = 0;  // bytes
  ReturnValue value;
};

// What is known at one place of a way.
struct WayPoint {
  Address pc = 0;
  FollowedValues<ReturnValue> values;
  std::vector<StoredWord> stored{};  // the last one last
};

inline ReturnValue moved(ReturnValue value, std::int64_t offset) {
  value.offset += offset;
  return value.kind == ReturnKind::in_far_word && value.offset != 0 ? ReturnValue{} : value;
}

}  // namespace whocall
