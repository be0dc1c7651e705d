#pragma once

#include "arch/architecture.h"

namespace whocall {

// o32, 32-bit programs.
extern const Architecture kMips;
extern const Architecture kMipsel;
// n64, and n32: 32-bit pointers in 64-bit registers.
extern const Architecture kMips64;
extern const Architecture kMips64el;
extern const Architecture kMipsN32;
extern const Architecture kMipsN32el;

}  // namespace whocall
