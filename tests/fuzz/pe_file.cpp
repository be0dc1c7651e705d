// Hostile PE files: one is refused by Error, or becomes an ELF file of which every row and symbol
// can be read. What is made of it is not much larger than it is.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz.h"
#include "object/call_frame_info.h"
#include "object/elf_symbols.h"
#include "object/pe_file.h"
#include "unwind/rows/fde_rows.h"

namespace {

using namespace whocall;

void compile_all(const CallFrameInfo* info) {
  std::size_t budget = 200;
  if (info != nullptr) {
    info->for_each([&](const Fde& fde) {
      if (budget != 0) {
        --budget;
        for (const UnwindRow& row : compile(fde)) {
          fuzz::demand(row.range.end <= fde.range.end);
        }
      }
    });
  }
}

}  // namespace

// The first byte says whether the rest lies as in memory.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const ByteView bytes(std::as_bytes(std::span(data, size)).subspan(1), Endian::little);
  try {
    const auto file = elf_of_pe(bytes, (data[0] & 1U) != 0, "fuzz");
    fuzz::demand(file->bytes().size() < (std::size_t{1} << 29U));
    for (const ElfSection& section : file->sections()) {
      (void)file->contents(section);
    }
    (void)static_symbols(*file);
    (void)dynamic_symbols(*file);
    (void)pe_headers_of(*file);
    compile_all(eh_frame_of(*file));
  } catch (const Error&) {  // no PE file
  }
  return 0;
}
