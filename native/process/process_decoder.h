// Instructions of a process.
#pragma once

#include <memory>

#include "arch/instruction.h"
#include "process/process_image.h"

namespace whocall {

// For code at runtime addresses; null where the instruction set is not decoded. Not to be used
// longer than the process.
inline std::unique_ptr<InstructionDecoder> decoder_for(const ProcessImage& process) {
  return decoder_for(*process.arch, [&process](Address address, std::span<std::byte> out) {
    return process.memory->read(address, out);
  });
}

}  // namespace whocall
