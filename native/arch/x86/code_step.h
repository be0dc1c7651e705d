// x86-64 instructions as steps of a frame. Source: Intel SDM, volume 2, appendix A.
#pragma once

#include "arch/code_step.h"

namespace whocall::x86 {

// A StepReader.
CodeStep read_step(const std::uint8_t* code, std::size_t size, std::uintptr_t address);

}  // namespace whocall::x86
