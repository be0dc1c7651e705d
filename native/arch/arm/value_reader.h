// What instructions of ARM do with values, in A32 and T32.
#pragma once

#include <memory>

#include "arch/value_flow.h"
#include "base/code_reader.h"

namespace whocall::arm {

// What stands around an instruction tells whether it is one of T32.
std::unique_ptr<ValueReader> make_value_reader(const CodeReader& around = {});

// In a mode that is known; an IT instruction comes with those that depend on it.
std::optional<ValueFlow> values_of(ByteView code, Address address, bool thumb);

}  // namespace whocall::arm
