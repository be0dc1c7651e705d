#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kRiscv64;
}  // namespace whocall
