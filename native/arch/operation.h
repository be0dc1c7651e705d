// An instruction with all its operands, as a disassembler tells it: for what is said of single
// instructions and of their likeness. What unwinding follows stands in instruction.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"

namespace whocall {

struct Operand {
  enum class Kind : std::uint8_t { other, reg, immediate, memory };
  Kind kind = Kind::other;
  // Whether the instruction reads and writes it; neither: the disassembler does not tell.
  bool read = false;
  bool written = false;
  std::uint8_t size = 0;   // bytes that are accessed; 0: not told
  std::string reg;         // of memory the base; empty: none
  std::string index;       // of memory; empty: none
  std::uint8_t scale = 1;  // of the index; 0: it is changed in another way
  bool segment = false;    // the address counts from where a segment (x86's fs, gs) begins
  std::int64_t value = 0;  // the number, or the distance from the base (bytes)
};

struct Operation {
  enum class Flow : std::uint8_t { next, call, jump, leave };
  Address address = 0;
  std::uint8_t size = 0;  // bytes
  Flow flow = Flow::next;
  std::string mnemonic;
  std::string operands_text;
  std::vector<Operand> operands;
};

}  // namespace whocall
