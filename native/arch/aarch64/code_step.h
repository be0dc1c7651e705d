// AArch64 instructions as steps of a frame. Source: Arm Architecture Reference Manual for
// A-profile, chapter C4.
#pragma once

#include "arch/code_step.h"

namespace whocall::aarch64 {

// A StepReader.
CodeStep read_step(const std::uint8_t* code, std::size_t size, std::uintptr_t address);

}  // namespace whocall::aarch64
