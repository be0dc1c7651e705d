// The symbol tables of one file as libbfd sees them.
#pragma once

#include <memory>
#include <vector>

#include "object/bfd/bfd_handle.h"
#include "object/bfd_library.h"

namespace whocall {

// Reads each table when it is first needed: libbfd takes 120 bytes of memory for a symbol. The
// caller holds the mutex. The handle must outlive it.
class BfdSymbols {
 public:
  explicit BfdSymbols(bfd* file) : file_(file) {}

  [[nodiscard]] std::vector<BfdSymbol> defined();
  // What libbfd makes up for PLT slots. Empty where it does not know the machine's PLT.
  [[nodiscard]] std::vector<BfdSymbol> synthetic();
  // NULL-terminated, as bfd_find_nearest_line wants it.
  [[nodiscard]] asymbol** for_lines() { return statics().data(); }

 private:
  std::vector<asymbol*>& statics();
  std::vector<asymbol*>& dynamics();

  bfd* file_;
  std::vector<asymbol*> statics_;  // both end with a null pointer once they are read
  std::vector<asymbol*> dynamics_;
};

}  // namespace whocall
