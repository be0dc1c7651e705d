// Instructions of x86-64 and i386, decoded by capstone and reduced to their effects.
#pragma once

#include <memory>

#include "arch/instruction.h"

namespace whocall::x86 {

std::unique_ptr<InstructionDecoder> make_decoder_64();
std::unique_ptr<InstructionDecoder> make_decoder_32();

}  // namespace whocall::x86
