// What instructions of A64 do with values.
#pragma once

#include <memory>

#include "arch/value_flow.h"

namespace whocall::aarch64 {

std::unique_ptr<ValueReader> make_value_reader();

}  // namespace whocall::aarch64
