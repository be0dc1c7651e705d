// The .xz container, as .gnu_debugdata holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_view.h"

namespace whocall {

// What one .xz stream unpacks to. A miss when the data are damaged or cut off, when they unpack to
// more than `limit` bytes, or when unpacking them would take more than kMostXzMemory.
std::optional<std::vector<std::byte>> unpack_xz(ByteView packed, std::uint64_t limit);

}  // namespace whocall
