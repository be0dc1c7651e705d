// Instructions of x86-64 and i386, reduced to their effects: common forms straight from their
// bytes, all others by capstone.
#pragma once

#include <memory>

#include "arch/instruction.h"
#include "arch/x86/families.h"

namespace whocall::x86 {

std::unique_ptr<InstructionDecoder> make_decoder_64(const CodeReader& around);
std::unique_ptr<InstructionDecoder> make_decoder_32(const CodeReader& around);
std::unique_ptr<InstructionDecoder> make_decoder_x32(const CodeReader& around);

// Capstone alone, which writes text for every instruction that it decodes: ten times slower.
std::unique_ptr<InstructionDecoder> make_library_decoder(Dialect dialect);

}  // namespace whocall::x86
