// Reads words that may not be there: of a stack that was overwritten, or unmapped.
#pragma once

#include <cstdint>

namespace whocall::runtime {

class CheckedReader {
 public:
  // False where `address` is no multiple of a word, and where nothing can be read.
  bool read(std::uintptr_t address, std::uintptr_t& value);

 private:
  std::uintptr_t readable_ = 1;  // the page that was found to be readable last; none is 1
};

// Whether the byte there can be read. Asks the kernel, which looks at memory without a fault.
bool readable(std::uintptr_t address);

}  // namespace whocall::runtime
