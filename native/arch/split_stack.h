// Functions that go on behind their own return address.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/architecture.h"
#include "base/byte_view.h"

namespace whocall {

inline constexpr std::uint32_t kLongestOuterCall = 16;  // bytes before its return address

// How far above the return address of its own a function finds that of the frame below it, bytes,
// should the call that ends `before` go to what stands behind its own return address.
//
// Folklore. Situation: a function has too little stack, and calls another at its beginning, which
// makes some and calls the rest of the first; behind the first call stands a return alone. Example:
// __morestack of libgcc for -fsplit-stack: mov 8(%rbp),%r10; inc %r10; call *%r10. By its return
// address each such function would stand there twice. Remedy: tables lead to the caller at once,
// and so does this.
std::optional<std::int32_t> outer_return(const Architecture& arch, ByteView before);

}  // namespace whocall
