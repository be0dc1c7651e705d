// Long texts are made in blocks: few calls for whoever takes them, little memory, and soon stopped.
#pragma once

#include <cstddef>

namespace whocall {

inline constexpr std::size_t kTextBlock = std::size_t{64} << 10;  // bytes; the last item goes over

}  // namespace whocall
