#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kArm;
extern const Architecture kArmeb;  // data big-endian, code little-endian (BE8)
}  // namespace whocall
