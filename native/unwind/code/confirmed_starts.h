// The function starts of a file, less those guesses that the code before them refutes.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/instruction.h"
#include "object/elf_file.h"
#include "symbols/discovery/function_starts.h"

namespace whocall {

// Folklore. Situation: a start is guessed by its bytes alone, and lies inside an instruction of
// another function. Example: `add $0x2d56,%ebx` is 81 c3 56 2d 00 00: behind the byte c3 (ret), at
// an aligned address, stands 56 (push %esi). Remedy: the function before is read instruction by
// instruction from its own start; a guess where none begins is none. Link addresses.
class ConfirmedStarts {
 public:
  // All must outlive the object.
  ConfirmedStarts(const ElfFile& file, const Architecture& arch, const FunctionStarts& starts);

  // As FunctionStarts::function_at.
  std::optional<AddressRange> function_at(Address link);

 private:
  // The guesses that hold between one start that is no guess and the next.
  const std::vector<Address>& guesses_in(const AddressRange& range);

  const ElfFile& file_;
  const FunctionStarts& starts_;
  std::unique_ptr<InstructionDecoder> decoder_;                  // null: the architecture has none
  std::unordered_map<Address, std::vector<Address>> confirmed_;  // by start of the range
};

}  // namespace whocall
