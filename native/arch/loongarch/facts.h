#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kLoongArch64;
}  // namespace whocall
