#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kX32;
}  // namespace whocall
