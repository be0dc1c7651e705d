// The symbol tables of one file as libbfd sees them.
#pragma once

#include <memory>
#include <vector>

#include "object/bfd/bfd_handle.h"
#include "object/bfd_library.h"

namespace whocall {

// Reads both tables when it is made; the caller holds the mutex. The handle must outlive it.
class BfdSymbols {
 public:
  explicit BfdSymbols(bfd* file);

  [[nodiscard]] std::vector<BfdSymbol> defined() const;
  // What libbfd makes up for PLT slots. Empty where it does not know the machine's PLT.
  [[nodiscard]] std::vector<BfdSymbol> synthetic();
  // NULL-terminated, as bfd_find_nearest_line wants it.
  [[nodiscard]] asymbol** for_lines() { return statics_.data(); }

 private:
  bfd* file_;
  std::vector<asymbol*> statics_;
  std::vector<asymbol*> dynamics_;
};

}  // namespace whocall
