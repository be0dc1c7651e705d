// Instructions of 16 bits as the ones of 32 that they stand for.
#pragma once

#include <cstdint>
#include <optional>

namespace whocall::riscv {

// A miss for what is none, or comes in 16 bits alone.
std::optional<std::uint32_t> expanded(std::uint32_t parcel);

}  // namespace whocall::riscv
