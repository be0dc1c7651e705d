#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kI386;
}  // namespace whocall
