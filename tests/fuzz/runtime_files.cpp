// Hostile files beside a program as libwhocall reads them in a crash: its own ELF reader finds
// sections, build ids and symbols, or nothing.
#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "fuzz.h"
#include "mutators.h"
#include "rules/debug_frame.h"
#include "runtime/mapped_file.h"

namespace {

using namespace whocall;

void use(const runtime::SymbolTable& table) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < table.count; ++i) {
    const auto& symbol = table.symbols[i];
    if (symbol.st_name < table.strings_size) {
      sum += std::strlen(table.strings + symbol.st_name);
    }
  }
  volatile std::size_t kept = sum;
  (void)kept;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::vector<std::byte> own = input.copy();
  if (own.size() < sizeof(Elf64_Ehdr)) {
    return 0;
  }
  const runtime::MappedFile file(own.data(), own.size());
  if (!file.is_open()) {
    return 0;
  }
  const unsigned char id[20] = {};
  (void)file.has({.bytes = id, .size = sizeof id});
  use(file.symbols(SHT_SYMTAB));
  use(file.symbols(SHT_DYNSYM));
  for (const char* name : {".debug_frame", ".comment", ".gnu_debugdata"}) {
    const rules::ByteSpan section = file.section(name);
    fuzz::demand(section.size <= own.size());
    const rules::FrameEntries entries{
        .bytes = {section.bytes, 0, section.size}, .word_size = 8, .debug = true};
    (void)rules::count_entries(entries);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_elf(data, size, most, seed, 0);
}
