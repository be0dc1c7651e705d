// Source positions of code.
#pragma once

#include <string>
#include <vector>

#include "base/address.h"

namespace whocall {

// One level of inlining at an address, innermost first; the last is the function itself.
struct SourceLine {
  std::string function;  // as the file has it (mangled); may be empty
  std::string file;      // as gdb shows it; empty where the position is not known
  unsigned line = 0;     // 0 likewise
  // What a relative file is relative to: where the unit was compiled; empty where nothing tells.
  std::string directory{};
};

// Source lines of one file.
class LineTable {
 public:
  LineTable() = default;
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;
  virtual ~LineTable() = default;
  // Of a link address: innermost inlined call first; empty where no line is known.
  [[nodiscard]] virtual std::vector<SourceLine> lines_at(Address link) const = 0;
};

}  // namespace whocall
