// T32 as steps of values.
#pragma once

#include "arch/arm/value_steps.h"

namespace whocall::arm {

// Of one word that has two halves, `word`; false where it is none.
bool read_values_wide(std::uint32_t word, ByteView code, Address address, ValueFlow& out,
                      bool& leaves);

}  // namespace whocall::arm
