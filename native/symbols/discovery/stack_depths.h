// How deep the stack is where the flow leaves a function by jumps.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "arch/architecture.h"
#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

class InstructionDecoder;

struct JumpsOut {
  // By target, a link address: how many bytes lie between the stack pointer there and that at the
  // function's start; a miss where ways with different depths go there, or where nobody knows.
  std::map<Address, std::optional<std::int64_t>> depths;
  std::set<Address> reached;  // the instructions that were followed
  bool complete = true;       // no jump by a table, no unknown instruction, no limit stopped it
};

class StackDepths {
 public:
  // Both must outlive the object.
  StackDepths(const ElfFile& file, const Architecture& arch);
  ~StackDepths();

  // Follows the code from `entry` on, inside `range`. No call returns to a place in `ends`.
  JumpsOut follow(Address entry, const AddressRange& range, const std::set<Address>& ends);

 private:
  const ElfFile& file_;
  const Architecture& arch_;
  std::unique_ptr<InstructionDecoder> decoder_;
  std::size_t asked_ =
      0;  // instructions of all that was followed: each is short, but they are many
};

}  // namespace whocall
