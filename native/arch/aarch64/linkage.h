// What linkers and the C library put into AArch64 programs.
#pragma once

#include "arch/linkage.h"

namespace whocall::aarch64 {

// Each answers the question of Linkage by the same name.
std::optional<JumpStub> jump_stub(ByteView code, Address address);
std::optional<StartupCode> startup(ByteView code, Address address);

}  // namespace whocall::aarch64
