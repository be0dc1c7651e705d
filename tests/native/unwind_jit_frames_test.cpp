// Unwind tables of JIT code: relocated or not yet, in the registered file or in memory, and never
// those of other code.
#include <doctest/doctest.h>

#include <vector>

#include "jit_object_images.h"
#include "unwind/rows/cfi_tables.h"
#include "unwind_module.h"

using namespace whocall;
using namespace whocall::test;

namespace {

// .eh_frame: a CIE with pc-relative addresses of 32 bits, and an FDE for each of `distances`, which
// is what stands in its first field, of 0x20 bytes; CFA = rsp + 64. The field of FDE `i` lies at
// kFirstField + i * kFdeSize.
constexpr Address kFirstField = 0x20;
constexpr Address kFdeSize = 0x14;

Bytes eh_frame(const std::vector<std::uint32_t>& distances) {
  Bytes cie;
  cie.u32(0).u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(0x1b);
  cie.append({0x0c, 7, 64, 0x90, 1}).align(4);
  Bytes all;
  all.u32(cie.size()).append(cie);
  for (const std::uint32_t distance : distances) {
    Bytes fde;
    fde.u32(all.size() + 4).u32(distance).u32(0x20).uleb(0).align(4);
    all.u32(fde.size()).append(fde);
  }
  return all;
}

std::uint32_t distance(Address target, unsigned index, Address section) {
  return static_cast<std::uint32_t>(target - (section + kFirstField + index * kFdeSize));
}

testing::SectionText frames(Address address, const Bytes& contents) {
  return part(".eh_frame", SHT_PROGBITS, SHF_ALLOC, address, contents);
}

// Of .eh_frame as section 2, against .text's symbol; see `section_symbol`.
testing::SectionText relocations(const std::vector<std::uint64_t>& offsets, unsigned symbol) {
  Bytes entries;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    entries.u64(kFirstField + i * kFdeSize);
    entries.u64((std::uint64_t{symbol} << 32U) | R_X86_64_PC32).u64(offsets[i]);
  }
  auto table = part(".rela.eh_frame", SHT_RELA, 0, 0, entries);
  table.header.sh_info = 2;
  return table;
}

constexpr unsigned kSymbolLow = 2;  // of usual_object: at the beginning of .text

AddressRange function_at(JitProcess& process, Address address) {
  const auto image = process.image();
  CfiTables tables(*image);
  const auto found = tables.row_at(address);
  CHECK(tables.covers(address) == found.has_value());
  if (!found) {
    return {};
  }
  CHECK(found->row->cfa.offset == 64);
  CHECK(found->owner.starts_with("[JIT object at 0x2"));
  return found->function;
}

const AddressRange kLow{kJitCode, kJitCode + 0x20};
const AddressRange kHigh{kJitCode + 0x40, kJitCode + 0x60};

}  // namespace

TEST_CASE("jit frames: a finished file") {
  JitProcess process;
  process.add(usual_object(ET_EXEC,
                           {frames(kJitFrames, eh_frame({distance(kLow.begin, 0, kJitFrames),
                                                         distance(kHigh.begin, 1, kJitFrames)}))}));
  CHECK(function_at(process, kJitCode + 0x1f) == kLow);
  CHECK(function_at(process, kJitCode + 0x41) == kHigh);
  CHECK(function_at(process, kJitCode + 0x20).empty());
}

TEST_CASE("jit frames: relocations that are left are applied") {
  JitProcess process;
  process.add(usual_object(
      ET_REL, {frames(kJitFrames, eh_frame({0, 0})), relocations({0, 0x40}, kSymbolLow)}));
  CHECK(function_at(process, kJitCode + 0x1f) == kLow);
  CHECK(function_at(process, kJitCode + 0x41) == kHigh);
}

TEST_CASE("jit frames: relocations that were applied are not applied again") {
  JitProcess process;
  process.add(
      usual_object(ET_REL, {frames(kJitFrames, eh_frame({distance(kLow.begin, 0, kJitFrames),
                                                         distance(kHigh.begin, 1, kJitFrames)})),
                            relocations({0, 0x40}, kSymbolLow)}));
  CHECK(function_at(process, kJitCode + 0x1f) == kLow);
  CHECK(function_at(process, kJitCode + 0x41) == kHigh);
}

TEST_CASE("jit frames: the loaded section where the file's is unfinished") {
  JitProcess process;
  process.map(
      kJitFrames,
      eh_frame({distance(kLow.begin, 0, kJitFrames), distance(kHigh.begin, 1, kJitFrames)}).get());
  process.add(usual_object(ET_REL, {frames(kJitFrames, eh_frame({0, 0}))}));
  CHECK(function_at(process, kJitCode + 0x1f) == kLow);
  CHECK(function_at(process, kJitCode + 0x41) == kHigh);
}

TEST_CASE("jit frames: FDEs of other code are nobody's") {
  JitProcess process;
  process.map(kJitCode, Bytes().fill(0x2000, 0xcc).get());
  process.add(usual_object(
      ET_EXEC, {frames(kJitFrames, eh_frame({distance(kLow.begin, 0, kJitFrames),
                                             distance(kJitCode + 0x1000, 1, kJitFrames),
                                             distance(kJitCode + 0xf0, 2, kJitFrames)}))}));
  CHECK(function_at(process, kJitCode) == kLow);
  CHECK(function_at(process, kJitCode + 0x1000).empty());
  CHECK(function_at(process, kJitCode + 0xf1).empty());  // it leads out of .text
}

TEST_CASE("jit frames: .debug_frame with absolute addresses, as qemu writes it") {
  JitProcess process;
  FrameTable table(kX86_64);
  const auto cie = table.cie({0x0c, 7, 64, 0x90, 1});
  table.fde(cie, {kJitCode, kJitCode + 0x100});
  process.add(usual_object(ET_EXEC, {part(".debug_frame", SHT_PROGBITS, 0, 0, table.bytes())}));
  CHECK(function_at(process, kJitCode + 0x99) == AddressRange{kJitCode, kJitCode + 0x100});
}

TEST_CASE("jit frames: a relocation that leads out of the section does nothing") {
  JitProcess process;
  auto table = relocations({0, 0x40}, kSymbolLow);
  testing::put(table.contents, 24, ~std::uint64_t{0} - 3);
  process.add(usual_object(ET_REL, {frames(kJitFrames, eh_frame({0, 0})), table}));
  CHECK(function_at(process, kJitCode + 0x1f) == kLow);
  CHECK(function_at(process, kJitCode + 0x41).empty());
}

TEST_CASE("jit frames: the rows of a whole buffer hold, and it is no function") {
  JitProcess process;
  FrameTable table(kX86_64);
  const auto cie = table.cie({0x0c, 7, 64, 0x90, 1});
  table.fde(cie, {kJitCode, kJitCode + 0x200000});
  std::vector<testing::SectionText> sections;
  sections.push_back(part(".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, kJitCode, Bytes()));
  sections.back().header.sh_size = 0x200000;
  sections.push_back(part(".debug_frame", SHT_PROGBITS, 0, 0, table.bytes()));
  process.add(elf_of(ET_EXEC, std::move(sections)));
  const auto image = process.image();
  CfiTables tables(*image);
  CHECK(tables.row_at(kJitCode + 0x99).has_value());
  CHECK(!tables.function_at(kJitCode + 0x99));
  CHECK(!tables.covers(kJitCode + 0x99));
}
