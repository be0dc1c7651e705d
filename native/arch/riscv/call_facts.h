#pragma once

#include "arch/system_call_abi.h"

namespace whocall::riscv {

extern const SystemCallAbi kCallAbi;

}  // namespace whocall::riscv
