#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kX86_64;
}  // namespace whocall
