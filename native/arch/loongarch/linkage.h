// What linkers and the C library put into LoongArch programs.
#pragma once

#include "arch/linkage.h"

namespace whocall::loongarch {

// Each answers the question of Linkage by the same name.
std::optional<JumpStub> jump_stub(ByteView code, Address address);
std::optional<StartupCode> startup(ByteView code, Address address);

}  // namespace whocall::loongarch
