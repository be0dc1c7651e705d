#pragma once

#include "arch/architecture.h"

namespace whocall {
extern const Architecture kAArch64;
extern const Architecture kAArch64Be;  // data big-endian, code little-endian, as always
}  // namespace whocall
