// Where a null pointer came from, in words.
#pragma once

#include <string>
#include <string_view>

#include "report/causes/scene.h"

namespace whocall {

// Behind "the null pointer in rdi" of the innermost frame's instruction: ", that find returned to
// #0". Empty where the code does not tell.
std::string null_origin(const Scene& scene, std::string_view reg);

// The pointer by which frame #1 called, where control is at an address without code.
//
// Folklore. Situation: the function that was called made its last call a jump, by a pointer that
// leads nowhere; its frame is gone, and the call before looks as if it had led there. Example:
// run() calls (*open)(at), which ends in `return at->next(at)`, and next is null. Remedy: what the
// caller's code and the places that outlive calls show of its pointer.
struct CalledPointer {
  bool led_elsewhere = false;  // so much is sure
  std::string origin{};        // as that of null_origin(); empty where the code does not tell
};
CalledPointer called_pointer(const Scene& scene);

}  // namespace whocall
