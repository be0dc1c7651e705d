// Which code is A32 and which T32: nothing in a stripped file says so, but every mode has its ways.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/byte_view.h"
#include "base/code_reader.h"

namespace whocall::arm {

// Of a piece of code: whether the word of 4 bytes at an address is T32.
class Modes {
 public:
  Modes() = default;
  Modes(ByteView code, Address address);
  [[nodiscard]] bool is_thumb(Address address) const;

 private:
  Address first_ = 0;  // a multiple of 4
  std::vector<bool> thumb_;
};

// The same of all code that can be read, looked at as it is asked for.
class ModesAround {
 public:
  explicit ModesAround(CodeReader around) : around_(std::move(around)) {}
  [[nodiscard]] bool is_thumb(Address address);

 private:
  CodeReader around_;
  std::map<Address, Modes> known_;  // by block
  Address last_ = 1;                // the block asked for last; at first none
  const Modes* modes_ = nullptr;    // its modes
};

}  // namespace whocall::arm
