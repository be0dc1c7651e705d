#pragma once

#include "arch/system_call_abi.h"

namespace whocall::arm {

extern const SystemCallAbi kCallAbi;

}  // namespace whocall::arm
