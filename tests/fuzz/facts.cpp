// Hostile caches: facts that were kept are refused, or are in order and are written as they were.
// The first byte chooses the kind.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz.h"
#include "symbols/symbol_facts.h"

namespace {

using namespace whocall;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.byte() % 4;
  const std::vector<std::byte> own = input.copy();
  if (kind == 0) {
    (void)decode_starts(own);
  } else if (kind == 1) {
    (void)decode_names(own);
  } else if (kind == 2) {
    (void)decode_jumps(own);
  } else {
    (void)decode_panic_places(own);
  }
  return 0;
}
