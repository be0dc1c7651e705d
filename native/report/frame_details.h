// What is told under a frame in full: its CFA, the registers known there, its stack words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "memory/memory.h"
#include "report/form/named_walk.h"

namespace whocall {

class StackText {
 public:
  // `arch` and `memory` must outlive it. Addresses are painted with the SGR parameters `address`.
  // As many registers and words stand beside each other as `columns` have room for; 0: as one likes
  // to read them.
  StackText(const Architecture& arch, const Memory& memory, std::string_view address,
            std::size_t columns)
      : arch_(arch), memory_(memory), address_(address), columns_(columns) {}

  // Lines under a frame, each with its newline; its stack reaches from `sp` to its CFA.
  void append(std::string& text, const FrameFacts& facts, Address sp) const;

 private:
  void append_registers(std::string& text, const Registers& registers) const;
  void append_words(std::string& text, Address begin, Address end) const;

  const Architecture& arch_;
  const Memory& memory_;
  std::string address_;
  std::size_t columns_;
};

}  // namespace whocall
