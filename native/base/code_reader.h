// A way to bytes of code that nobody has been handed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/address.h"

namespace whocall {

// Reads from `address` on; returns how many bytes were there.
using CodeReader = std::function<std::size_t(Address address, std::span<std::byte> out)>;

}  // namespace whocall
