// What instructions of RISC-V do with values.
#pragma once

#include <memory>

#include "arch/value_flow.h"

namespace whocall::riscv {

std::unique_ptr<ValueReader> make_value_reader();

}  // namespace whocall::riscv
