// Hostile code and exception tables: the analysis ends, its points lie in the code without
// overlapping from one start, and its rows can be applied to any stack. The first byte chooses what
// the rest is; the second the architecture; the third and the fourth where one looks.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "arch/instruction.h"
#include "fuzz.h"
#include "memory/segment_memory.h"
#include "object/lsda.h"
#include "process/file_image.h"
#include "report/form/operations.h"
#include "symbols/symbolizer.h"
#include "unwind/analysis/function_analyser.h"
#include "unwind/analysis/function_analysis.h"
#include "unwind/code/code_map.h"
#include "unwind/code/no_return.h"
#include "unwind/code/tail_calls.h"
#include "unwind/rows/apply_row.h"
#include "unwind/rows/cfi_tables.h"

namespace {

using namespace whocall;

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ffc0000;

void apply_all(const AnalysedFunction& function, const Architecture& arch, ByteView stack) {
  const SegmentMemory memory({{kStack, stack.bytes()}});
  for (const UnwindRow& row : function.rows) {
    Activation callee;
    callee.pc = row.range.begin;
    for (Register number = 0; number < 17; ++number) {
      callee.registers.set(number, kStack + number * 8U);
    }
    (void)apply_row(row, callee, arch, memory);
    (void)to_string(row.cfa, arch);
  }
}

// The code as a function by itself, with landing pads and entries anywhere.
void follow_alone(const Architecture& arch, std::uint16_t where, ByteView code) {
  const auto decoder = decoder_for(arch);
  FunctionCode function{.code = code, .address = kCode};
  function.delimited = (where & 1U) != 0 ? code.size() : where % 64;
  function.never_returns = [&](Address target) { return (target & 7U) == 0; };
  if ((where & 2U) != 0) {
    function.landing_pads.push_back(
        {{kCode + where % 64, kCode + where % 512}, kCode + where % 99});
  }
  const FollowedFunction followed = follow_function(function, arch, *decoder);
  Address before = 0;
  for (const AnalysedPoint& point : followed.points) {
    if (point.range.begin < kCode || point.range.end > kCode + code.size() || point.range.empty() ||
        (before != 0 && point.range.begin <= before)) {
      __builtin_trap();
    }
    before = point.range.begin;
  }
  for (const FunctionExit& exit : followed.exits) {
    if (AddressRange{kCode, kCode + code.size()}.contains(exit.target)) {
      __builtin_trap();
    }
  }
  apply_all(make_rows(followed.points), arch, code);
}

// The same code as a module of a process, asked from anywhere.
void follow_in_module(const Architecture& arch, std::uint16_t where, ByteView code) {
  const auto file = ElfFile::from_memory(fuzz::elf_around(arch, code.bytes(), kCode), "fuzz");
  const auto image = image_of_file(file, arch);
  Symbolizer symbolizer(*image);
  CfiTables cfi(*image);
  CodeMap map(*image, cfi, symbolizer);
  FunctionAnalyser analyser(*image, map);
  const Address pc = kCode + where % (code.size() + 2);
  Address behind = pc;
  for (const Operation& operation : list_operations(*image, pc, code.size(), 256)) {
    if (operation.address < behind || operation.size == 0) {
      __builtin_trap();
    }
    behind = operation.address + operation.size;
  }
  if (const UnwindRow* row = analyser.row_at(pc); row != nullptr && !row->range.contains(pc)) {
    __builtin_trap();
  }
  (void)NoReturn(*image, map).never_returns(pc);
  (void)TailCalls(*image, map).lead(pc, kCode + code.size() / 2);
}

void read_exception_table(const Architecture& arch, std::uint16_t where, ByteView table) {
  const auto file = ElfFile::from_memory(fuzz::elf_around(arch, table.bytes(), kCode), "fuzz");
  Cie cie;
  cie.context.word_size = arch.abi.pointer_size;
  Fde fde;
  fde.range = {kCode, kCode + 0x800};
  fde.cie = &cie;
  fde.exception_table = kCode + where % 64;
  for (const LandingPad& pad : landing_pads_of(*file, fde)) {
    if (pad.calls.begin < fde.range.begin || pad.calls.end > fde.range.end ||
        pad.calls.end < pad.calls.begin) {
      __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5 || size > 4096) {
    return 0;
  }
  std::vector<const Architecture*> decoded;
  for (const Architecture* arch : architectures()) {
    if (arch->code.make_decoder != nullptr) {
      decoded.push_back(arch);
    }
  }
  const Architecture& arch = *decoded[data[1] % decoded.size()];
  const auto where = static_cast<std::uint16_t>(data[2] | data[3] << 8U);
  const ByteView rest(std::as_bytes(std::span(data + 4, size - 4)), arch.abi.endian);
  switch (data[0] % 3) {
    case 0:
      follow_alone(arch, where, rest);
      break;
    case 1:
      follow_in_module(arch, where, rest);
      break;
    default:
      read_exception_table(arch, where, rest);
  }
  return 0;
}
