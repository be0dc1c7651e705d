#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kAArch64;
}  // namespace whocall
