// Functions that a compiler put into memory while the program ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/address.h"
#include "object/source_line.h"
#include "symbols/table/symbol.h"

namespace whocall {

struct JitLine {
  Address address = 0;  // runtime
  unsigned line = 0;
  std::uint32_t file = 0;  // index in JitFunctions::files
};

struct JitFunction {
  AddressRange range;  // runtime addresses
  std::string name;
  NameSource source = NameSource::none;
  std::vector<JitLine> lines{};  // ascending
};

// At every address, the function that was put there last.
class JitFunctions {
 public:
  // Whatever was known of the function's range is forgotten.
  void add(JitFunction function);
  void remove(AddressRange range);

  // Null when none covers `address`.
  [[nodiscard]] const JitFunction* at(Address address) const;
  [[nodiscard]] const std::map<Address, JitFunction>& all() const { return by_start_; }
  [[nodiscard]] bool empty() const { return by_start_.empty(); }

  std::vector<std::string> files{};  // of source lines

 private:
  std::map<Address, JitFunction> by_start_;  // disjoint
};

}  // namespace whocall
