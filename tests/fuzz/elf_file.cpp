// Hostile ELF files: opening one either throws Error or gives something that every question can be
// put to: sections, notes, symbols, unwind entries, rows, look-ups.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "fuzz.h"
#include "golang/go_program.h"
#include "mutators.h"
#include "object/debug_link.h"
#include "object/elf_architecture.h"
#include "object/elf_dynamic.h"
#include "object/elf_file.h"
#include "object/elf_imports.h"
#include "object/elf_symbols.h"
#include "object/implicit_got.h"
#include "object/mini_debug_info.h"
#include "object/mips_procedure_table.h"
#include "object/relocated_section.h"
#include "symbols/table/symbol_table.h"
#include "unwind/rows/fde_rows.h"

namespace {

using namespace whocall;

void read_sections(const ElfFile& file) {
  for (const ElfSection& section : file.sections()) {
    (void)file.contents(section);
    (void)file.section_at(section.address);
    (void)file.at(section.address);
  }
  for (const ElfSegment& segment : file.segments()) {
    (void)file.at(segment.address);
  }
  (void)file.notes();
  (void)file.build_id();
  (void)file.interpreter();
  (void)soname_of(file);
  (void)file.load_range();
}

// What relocations and tables of one machine say.
void read_parts(const ElfFile& file) {
  (void)imported_functions(file);
  std::size_t pointers = 0;
  for_each_relative_pointer(file, [&](Address, Address) { ++pointers; });
  (void)debug_link_of(file);
  (void)implicit_got(file);
  (void)procedure_starts(file);
  const Architecture& arch = architecture_of(file);
  if (arch.linkage.relocations != nullptr) {
    std::size_t budget = 20;
    for (const ElfSection& section : file.sections()) {
      if (budget-- == 0) {
        break;
      }
      (void)relocated_section(file, section, arch.linkage.relocations());
    }
  }
}

void compile_all(const CallFrameInfo* info) {
  if (info == nullptr) {
    return;
  }
  std::size_t budget = 200;
  info->for_each([&](const Fde& fde) {
    if (budget != 0) {
      --budget;
      Address next = fde.range.begin;
      for (const UnwindRow& row : compile(fde)) {
        if (row.range.begin != next || row.range.empty() || row.range.end > fde.range.end) {
          __builtin_trap();
        }
        next = row.range.end;
      }
      if (const auto found = info->find(fde.range.begin);
          found && !found->range.contains(fde.range.begin)) {
        __builtin_trap();
      }
    }
  });
}

void look_up(const SymbolTable& table) {
  for (const Symbol& symbol : table.symbols()) {
    const std::uint32_t found = table.find(symbol.range.begin);
    if (found != SymbolTable::kNone && !table.symbols()[found].range.contains(symbol.range.begin)) {
      __builtin_trap();
    }
  }
  (void)table.find(0);
  (void)table.find(~Address{0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto file = ElfFile::from_memory({bytes.begin(), bytes.end()}, "fuzz");
    read_sections(*file);
    (void)static_symbols(*file);
    (void)dynamic_symbols(*file);
    for (const CallFrameInfo* info : frame_tables_of(*file)) {
      compile_all(info);
    }
    look_up(*SymbolTable::from_elf(file));
    read_parts(*file);
  } catch (const Error&) {  // the one error type; any other ends the fuzzer
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return whocall::fuzz::mutate_elf(data, size, most, seed, 0);
}
