// What linkers put between functions of ARM. Each answers the question of Linkage by the same name.
#pragma once

#include "arch/linkage.h"

namespace whocall::arm {

template <Endian Data = Endian::little>
std::optional<JumpStub> jump_stub(ByteView code, Address address);
template <Endian Data = Endian::little>
std::optional<StartupCode> startup(ByteView code, Address address);

}  // namespace whocall::arm
