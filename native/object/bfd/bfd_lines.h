// Source lines and inlined calls of one file.
#pragma once

#include <vector>

#include "object/bfd/bfd_symbols.h"

namespace whocall {

// Sections are sorted once, so a look-up does not walk through them. The caller holds the mutex.
class BfdLines {
 public:
  BfdLines(bfd* file, BfdSymbols& symbols);
  // See BfdFile::lines_at.
  [[nodiscard]] std::vector<SourceLine> at(Address address);

 private:
  bfd* file_;
  BfdSymbols& symbols_;
  std::vector<asection*> sections_;  // loaded ones with code, by address
};

}  // namespace whocall
