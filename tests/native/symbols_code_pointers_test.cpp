// What words of the data say of the code that they point to.
#include "symbols/discovery/code_pointers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/x86/x86_64_facts.h"
#include "start_code.h"

namespace whocall::test {
namespace {

// Relocations that write link address plus bias.
Bytes relative(const std::vector<std::pair<Address, Address>>& words) {
  Bytes entries;
  for (const auto& [where, target] : words) {
    entries.u64(where).u64(R_X86_64_RELATIVE).u64(target);
  }
  return entries;
}

TEST_CASE("code pointers: initializers, functions, and words that point to no code") {
  Code code;
  const Address init = code.add(framed(kX86_64));
  const Address function = code.add(framed(kX86_64));
  const auto file = code.file(kX86_64)
                        .section({.name = ".init_array",
                                  .type = SHT_INIT_ARRAY,
                                  .address = kData,
                                  .bytes = Bytes().u64(init).u64(0).u64(~std::uint64_t{0}),
                                  .flags = SHF_ALLOC | SHF_WRITE,
                                  .entry_size = 8})
                        .section({.name = ".rela.dyn",
                                  .type = SHT_RELA,
                                  .address = kData + 0x100,
                                  .bytes = relative({{kData + 0x200, function},
                                                     {kData + 0x208, kData},
                                                     {kData + 0x210, code.next()},
                                                     {kData, init}}),
                                  .entry_size = 24})
                        .file();
  const std::vector<AddressRange> areas = {{kText, code.next()}};
  const CodePointers pointers(*file, kX86_64, areas, {});
  const std::vector<Address> initializers(pointers.initializers().begin(),
                                          pointers.initializers().end());
  const std::vector<Address> functions(pointers.functions().begin(), pointers.functions().end());
  CHECK(std::ranges::count(initializers, init) >= 1);
  CHECK(functions == std::vector<Address>{function});
  CHECK_FALSE(pointers.is_case(function));
}

TEST_CASE("code pointers: a table of functions that nobody aligned, and one of labels") {
  const auto functions_of = [](const Bytes& end) {
    constexpr unsigned kMany = 12;
    Bytes code = Bytes{0x90}.append(end);
    std::vector<std::pair<Address, Address>> words;
    for (unsigned i = 0; i < kMany; ++i) {
      words.emplace_back(kData + 0x800 + 8 * i, kText + code.size());
      code.append(Bytes{0x8d, 0x47, 0x01}).append(end);  // lea 1(%rdi),%eax
    }
    const auto file = CodeFile(kX86_64)
                          .code(kText, code)
                          .section({.name = ".rela.dyn",
                                    .type = SHT_RELA,
                                    .address = kData,
                                    .bytes = relative(words),
                                    .entry_size = 24})
                          .file();
    const std::vector<AddressRange> areas = {{kText, kText + code.size()}};
    return CodePointers(*file, kX86_64, areas, {}).functions().size();
  };
  CHECK(functions_of({0xc3}) == 12);                   // ret
  CHECK(functions_of({0xc2, 0x08, 0x00}) == 12);       // ret $8
  CHECK(functions_of({0xe8, 0, 0, 0x10, 0}) == 12);    // call of what never returns
  CHECK(functions_of({0xff, 0xe0}) == 0);              // jmp *%rax
  CHECK(functions_of({0xe9, 0xc3, 0xc3, 0, 0}) == 0);  // jmp to where all dispatch
  CHECK(functions_of({0xeb, 0x80}) == 0);
}

TEST_CASE("code pointers: labels of which a profile moved some into the cold part") {
  constexpr Address kTable = 0x500000;
  constexpr std::size_t kApart = 0x20000;
  constexpr unsigned kLabels = 12;  // of each part
  const auto functions_of = [](unsigned parts) {
    Bytes code;
    std::vector<std::pair<Address, Address>> words;
    for (unsigned part = 0; part < parts; ++part) {
      code.fill(part * kApart - code.size(), 0x90).append(Bytes{0xff, 0xe0});
      for (unsigned i = 0; i < kLabels; ++i) {  // one of each part by turns
        words.emplace_back(kTable + 0x1000 + 8 * (i * parts + part), kText + code.size());
        code.append(Bytes{0x8d, 0x47, 0x01, 0xff, 0xe0});  // lea 1(%rdi),%eax; jmp *%rax
      }
    }
    const auto file = CodeFile(kX86_64)
                          .code(kText, code)
                          .section({.name = ".rela.dyn",
                                    .type = SHT_RELA,
                                    .address = kTable,
                                    .bytes = relative(words),
                                    .entry_size = 24})
                          .file();
    const std::vector<AddressRange> areas = {{kText, kText + code.size()}};
    return CodePointers(*file, kX86_64, areas, {}).functions().size();
  };
  CHECK(functions_of(1) == 0);
  CHECK(functions_of(2) == 0);
  CHECK(functions_of(3) == 3 * kLabels);  // no function lies in three places
}

TEST_CASE("function starts: a landing pad where a computed jump arrives begins none") {
  const auto evidence = [](bool table) {
    Bytes code = framed(kX86_64).append(Bytes{0xff, 0xe0});
    std::vector<std::pair<Address, Address>> words;
    for (unsigned i = 0; i < 12; ++i) {
      words.emplace_back(kData + 0x800 + 8 * i, kText + code.size());
      // endbr64; lea 1(%rdi),%eax; jmp *%rax
      code.append(Bytes{0xf3, 0x0f, 0x1e, 0xfa, 0x8d, 0x47, 0x01, 0xff, 0xe0});
    }
    CodeFile parts = CodeFile(kX86_64).code(kText, code);
    if (table) {
      parts.section({.name = ".rela.dyn",
                     .type = SHT_RELA,
                     .address = kData,
                     .bytes = relative(words),
                     .entry_size = 24});
    }
    return starts_of(kX86_64, parts).evidence_at(words[3].second);
  };
  CHECK(evidence(false).has(StartEvidence::landing_pad));
  CHECK(evidence(true) == StartEvidenceSet());
}

TEST_CASE("function starts: a pointer to an aligned place behind a call") {
  const auto starts_behind = [](std::uint8_t opcode) {  // with 32 bits of an operand
    const Bytes code = Bytes()
                           .fill(11, 0x90)
                           .u8(opcode)
                           .u32(0x10)
                           .append(Bytes{0x8d, 0x47, 0x01, 0xc3})
                           .fill(12, 0xcc)
                           .append(framed(kX86_64));
    return starts_of(kX86_64, CodeFile(kX86_64)
                                  .code(kText, code)
                                  .section({.name = ".rela.dyn",
                                            .type = SHT_RELA,
                                            .address = kData,
                                            .bytes = relative({{kData + 0x200, kText + 0x10}}),
                                            .entry_size = 24}));
  };
  CHECK(starts_behind(0xe8).evidence_at(kText + 0x10).has(StartEvidence::code_pointer));
  CHECK(starts_behind(0xb8).evidence_at(kText + 0x10) == StartEvidenceSet());  // mov $16,%eax
}

}  // namespace
}  // namespace whocall::test
