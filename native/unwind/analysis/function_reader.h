// The instructions of one function, decoded once each, and what their bytes alone tell.
#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arch/instruction.h"
#include "base/byte_view.h"

namespace whocall {

// Offsets count from the function's first byte.
class FunctionReader {
 public:
  FunctionReader(ByteView code, Address address, const Architecture& arch,
                 InstructionDecoder& decoder)
      : code_(code), address_(address), arch_(arch), decoder_(decoder), at_(code.size()) {}

  // Null where the bytes are no instruction, and beyond the end.
  const Instruction* decode(std::uint64_t offset);
  // Where an indirect jump may lead; empty where that is not known.
  std::vector<Address> table_targets(std::uint64_t jump) {
    return decoder_.table_targets(code_.from(jump), address_ + jump);
  }
  // Where the padding that begins at `offset` ends, and constants that were seen to be read;
  // `offset` itself when there is none.
  std::uint64_t behind_padding(std::uint64_t offset);
  // Whether what stands there, behind padding, is a constant that was seen to be read.
  bool leads_into_constant(std::uint64_t offset);
  // Whether code at an aligned address begins as functions do: with a landing pad, or by lowering
  // the stack pointer.
  bool looks_like_function(std::uint64_t offset);
  // Whether code that was called begins by overwriting, dropping or popping its return address.
  bool drops_return_address(std::uint64_t offset);
  // Which registers the code that is entered at `offset` may write before it returns; a miss when
  // that cannot be told: it calls, jumps to who knows where, or is long.
  std::optional<std::bitset<kRegisterLimit>> written_by(std::uint64_t offset);
  // The targets of all direct jumps, found by reading the function once from front to back.
  const std::set<std::uint64_t>& block_starts();

 private:
  ByteView code_;
  Address address_;
  const Architecture& arch_;
  InstructionDecoder& decoder_;
  std::deque<Instruction> decoded_;
  std::vector<std::uint32_t> at_;  // by offset: 0 not looked at, 1 none, 2 the first of decoded_
  std::map<std::uint64_t, std::uint64_t> constants_;  // where one begins, and ends
  std::optional<std::set<std::uint64_t>> block_starts_;
};

}  // namespace whocall
