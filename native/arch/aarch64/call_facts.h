#pragma once

#include "arch/system_call_abi.h"

namespace whocall::aarch64 {

extern const SystemCallAbi kCallAbi;

}  // namespace whocall::aarch64
