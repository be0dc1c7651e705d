// Hostile names: every one has an answer, and one that is no mangled name is its own.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz.h"
#include "symbols/table/demangler.h"

namespace {

using namespace whocall;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string name(input.text().substr(0, 1000));
  const std::string shown = demangle(name);
  fuzz::demand(looks_mangled(name) || shown == name);
  return 0;
}
