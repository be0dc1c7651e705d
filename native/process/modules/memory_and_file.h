// The memory of a process, and behind it a file that is loaded there.
#pragma once

#include <span>

#include "memory/memory.h"
#include "object/elf_file.h"

namespace whocall {

// What the core has not, as the program's file has it. Linkers for MIPS put the dynamic table
// beside the code, where it cannot be written.
class MemoryAndFile final : public Memory {
 public:
  // `file` may be null; runtime address = link address + bias.
  MemoryAndFile(const Memory& memory, const ElfFile* file, Address bias)
      : memory_(memory), file_(file), bias_(bias) {}

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override {
    const auto run = memory_.run_at(address);
    return run.empty() && file_ != nullptr ? file_->at(address - bias_).bytes() : run;
  }

 private:
  const Memory& memory_;
  const ElfFile* file_;
  Address bias_;
};

}  // namespace whocall
