// Hostile archives: an ELF file inside another one is found at its place or not at all, and draws
// on the budget. The first four bytes say where it is looked for; the rest is the archive.
#include <cstddef>
#include <cstdint>

#include "fuzz.h"
#include "object/embedded_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace whocall;
  static const fuzz::Scratch scratch;
  fuzz::Input input(data, size);
  const std::uint64_t offset = input.number(4);
  if (!scratch.write(input.rest())) {
    return 0;
  }
  Budget budget("fuzz", size);
  const std::uint64_t before = budget.left(Cost::copied);
  const auto file = open_embedded(scratch.path(), offset, budget);
  if (file != nullptr) {
    fuzz::demand(offset != 0 && offset_in_container(*file) == offset);
    fuzz::demand(file->bytes().size() <= input.rest().size() - offset);
    fuzz::demand(before - budget.left(Cost::copied) >= file->bytes().size());  // and its tables
    fuzz::demand(file->path() == path_in_container(scratch.path(), name_in_container(*file)));
  }
  return 0;
}
