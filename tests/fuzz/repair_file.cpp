// Hostile files and code: a file for debuggers is made or Error is thrown, and what was made is a
// whole ELF file whose rules lie in order. The first byte chooses whether the rest is a file or the
// code of one, the second the architecture of such code.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "base/error.h"
#include "object/call_frame_info.h"
#include "object/elf_architecture.h"
#include "process/file_image.h"
#include "symbols/symbolizer.h"
#include "symfile/repair_file.h"
#include "unwind/rows/cfi_program.h"
#include "unwind/walk/walker.h"

namespace {

using namespace whocall;

constexpr Address kCode = 0x401000;

void check(const ElfFile& made, const RepairFile& repaired) {
  if (!made.damage().empty() || made.section(".symtab") == nullptr) {
    __builtin_trap();
  }
  const auto info = debug_frame_of(made);
  if ((info == nullptr) != (made.section(".debug_frame") == nullptr)) {
    __builtin_trap();
  }
  if (info == nullptr) {
    return;
  }
  info->for_each([&](const Fde& fde) {
    Address next = fde.range.begin;
    for (const UnwindRow& row : compile(fde)) {
      if (row.range.begin != next || row.range.empty()) {
        __builtin_trap();
      }
      next = row.range.end;
    }
    if (next != fde.range.end || repaired.functions.empty()) {
      __builtin_trap();
    }
  });
}

void repair(const std::shared_ptr<const ElfFile>& file, const Architecture& arch) {
  const auto image = image_of_file(file, arch);
  const auto symbolizer = std::make_shared<Symbolizer>(*image);
  Walker walker(*image, symbolizer);
  for (const Module& module : image->modules) {
    if (module.file == nullptr) {
      continue;
    }
    const RepairFileRequest request{.wanted = {module.range.begin, kCode + 3},
                                    .budget = std::uint64_t{1} << 40U};
    const RepairFile made =
        make_repair_file(module, *symbolizer->symbols_of(module), walker, request);
    if (!made.bytes.empty()) {
      check(*ElfFile::from_memory(made.bytes, "made"), made);
    }
  }
}

// The smallest file that loads `code`: an ELF header and one segment, no sections.
std::vector<std::byte> file_around(const Architecture& arch, std::span<const std::byte> code) {
  const bool wide = arch.abi.pointer_size == 8;
  std::vector<std::byte> image(wide ? 64 + 56 : 52 + 32);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      image[at + i] = static_cast<std::byte>(value >> (8 * i));
    }
  };
  const std::size_t word = arch.abi.pointer_size;
  const std::size_t segment = wide ? 64 : 52;
  put(0, 0x464c457f, 4);
  put(4, wide ? 2 : 1, 1);
  put(5, 1, 1);
  put(6, 1, 1);
  put(16, 3, 2);
  put(18, arch.abi.elf_machine, 2);
  put(20, 1, 4);
  put(24, kCode + code.size() / 2, word);
  put(24 + word, segment, word);
  put(wide ? 52 : 40, segment, 2);
  put(wide ? 54 : 42, wide ? 56 : 32, 2);
  put(wide ? 56 : 44, 1, 2);
  put(segment, 1, 4);
  put(segment + (wide ? 4 : 24), 5, 4);
  put(segment + (wide ? 8 : 4), image.size(), word);
  put(segment + (wide ? 16 : 8), kCode, word);
  put(segment + (wide ? 32 : 16), code.size(), word);
  put(segment + (wide ? 40 : 20), code.size(), word);
  image.insert(image.end(), code.begin(), code.end());
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8 || size > 1U << 16U) {
    return 0;
  }
  const auto rest = std::as_bytes(std::span(data + 2, size - 2));
  try {
    if (data[0] % 2 == 0) {
      const auto file = ElfFile::from_memory({rest.begin(), rest.end()}, "fuzz");
      repair(file, architecture_of(*file));
    } else {
      const Architecture* arch = find_architecture(data[1] % 2 == 0 ? "x86_64" : "i386");
      repair(ElfFile::from_memory(file_around(*arch, rest), "fuzz"), *arch);
    }
  } catch (const Error&) {  // the one error type; any other ends the fuzzer
  }
  return 0;
}
