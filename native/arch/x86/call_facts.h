#pragma once

#include "arch/system_call_abi.h"

namespace whocall::x86 {

extern const SystemCallAbi k64CallAbi;
extern const SystemCallAbi kX32CallAbi;
extern const SystemCallAbi k32CallAbi;

}  // namespace whocall::x86
