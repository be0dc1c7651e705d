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
#include "fuzz.h"
#include "mutators.h"
#include "object/call_frame_info.h"
#include "object/elf_architecture.h"
#include "process/file_image.h"
#include "symbols/symbolizer.h"
#include "symfile/repair_file.h"
#include "unwind/rows/fde_rows.h"
#include "unwind/walk/walker.h"

namespace {

using namespace whocall;

constexpr Address kCode = 0x401000;

void check(const ElfFile& made, const RepairFile& repaired) {
  if (!made.damage().empty() || made.section(".symtab") == nullptr) {
    __builtin_trap();
  }
  const auto info = CallFrameInfo::of_debug_frame(made);  // whether it is believed or not
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
    RepairFileRequest request;
    request.wanted = {module.range.begin, kCode + 3};
    request.budget = std::uint64_t{1} << 40U;
    const RepairFile made =
        make_repair_file(module, *symbolizer->symbols_of(module), walker, request);
    if (!made.bytes.empty()) {
      check(*ElfFile::from_memory(made.bytes, "made"), made);
    }
  }
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
      const auto all = architectures();
      const Architecture& arch = *all[data[1] % all.size()];
      repair(ElfFile::from_memory(fuzz::elf_around(arch, rest, kCode), "fuzz"), arch);
    }
  } catch (const Error&) {  // the one error type; any other ends the fuzzer
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_elf(data, size, most, seed, 2);
}
