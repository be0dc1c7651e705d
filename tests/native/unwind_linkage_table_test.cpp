// How the flow enters the procedure linkage table.
#include <doctest/doctest.h>

#include "aarch64_words.h"
#include "arch/aarch64/facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/analysis/function_analyser.h"
#include "unwind/analysis/linkage_table.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

constexpr Address kPlt = 0x401000;

// push GOT[1]; jmp *GOT[2]; nop
const Bytes kHeader{0xff, 0x35, 0xe2, 0x2f, 0,    0,    0xff, 0x25,
                    0xe4, 0x2f, 0,    0,    0x0f, 0x1f, 0x40, 0};
// jmp *slot; push $0; jmp header
const Bytes kSlot{0xff, 0x25, 0xe2, 0x2f, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff};
// endbr64; push $0; jmp header; xchg %ax,%ax
const Bytes kSlotIbt{0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0,    0,    0,
                     0,    0xe9, 0xe2, 0xff, 0xff, 0xff, 0x66, 0x90};

std::vector<FunctionExit> entries(const Architecture& arch, const Bytes& code) {
  return linkage_table_entries(code.view(), kPlt, kPlt, 16, arch, *decoder_for(arch));
}

AbstractValue depth(const Architecture& arch, std::int64_t words) {
  return AbstractValue::from_cfa(-words * arch.abi.pointer_size);
}

TEST_CASE("linkage table: the header has the index pushed, slots and what follows their jump not") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    const auto found = entries(*arch, Bytes().append(kHeader).append(kSlot).append(kSlot));
    REQUIRE(found.size() == 5);
    CHECK(found[0].target == kPlt);
    CHECK(found[0].state.get(arch->registers.sp) == depth(*arch, 2));
    const Address targets[] = {kPlt + 16, kPlt + 22, kPlt + 32, kPlt + 38};
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(found[i + 1].target == targets[i]);
      CHECK(found[i + 1].state.get(arch->registers.sp) == depth(*arch, 1));
    }
  }
}

TEST_CASE("linkage table: slots that begin with endbr have one entry") {
  const auto found = entries(kX86_64, Bytes().append(kHeader).append(kSlotIbt));
  REQUIRE(found.size() == 2);
  CHECK(found[1].target == kPlt + 16);
}

TEST_CASE("linkage table: cut off, empty and senseless tables") {
  CHECK(entries(kX86_64, kHeader).size() == 1);
  CHECK(entries(kX86_64, Bytes().append(kHeader).append(Bytes{0xff, 0x25})).size() == 2);
  CHECK(entries(kX86_64, Bytes().fill(64, 0x06)).size() == 4);
  for (const FunctionExit& entry : entries(kX86_64, {})) {
    CHECK(entry.target == kPlt);
  }
}

// sh_entsize of .plt is 16 for x86-64; for i386 ld writes 4, though its slots are as large.
TEST_CASE("linkage table: rows at every instruction of a file's .plt") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    const bool wide = arch == &kX86_64;
    CodeFile file(*arch);
    file.section({.name = ".plt",
                  .address = kPlt,
                  .bytes = Bytes().append(kHeader).append(kSlot),
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .entry_size = wide ? 16U : 4U});
    CodeProcess process(*arch, file);
    FunctionAnalyser analyser(*process.image, process.code);
    const auto cfa = [&](Address at) {
      const UnwindRow* row = analyser.row_at(at);
      return row != nullptr ? to_string(row->cfa, *arch) : std::string("none");
    };
    const std::string sp = wide ? "rsp+" : "esp+";
    const auto words = [&](unsigned count) {
      return sp + std::to_string(count * arch->abi.pointer_size);
    };
    CHECK(cfa(kPlt) == words(2));
    CHECK(cfa(kPlt + 6) == words(3));
    CHECK(cfa(kPlt + 16) == words(1));
    CHECK(cfa(kPlt + 22) == words(1));
    CHECK(cfa(kPlt + 27) == words(2));
  }
}

// lld does not tell the size of slots. Slot 0 alone saves the link register.
TEST_CASE("linkage table: where calls leave the return address in a register, slots save nothing") {
  const Bytes head = a64::words({0xa9bf7bf0, 0xb00001d0, 0xf9475a11, 0x913ac210, 0xd61f0220,
                                 0xd503201f, 0xd503201f, 0xd503201f});
  const Bytes slot = a64::words({0xb00001d0, 0xf9475a11, 0x913ac210, 0xd61f0220});
  for (const std::uint64_t told : {0U, 16U}) {
    CodeFile file(kAArch64);
    file.section({.name = ".plt",
                  .address = kPlt,
                  .bytes = Bytes().append(head).append(slot).append(slot),
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .entry_size = told});
    CodeProcess process(kAArch64, file);
    FunctionAnalyser analyser(*process.image, process.code);
    const auto row = [&](Address at) {
      const UnwindRow* found = analyser.row_at(at);
      const RegisterRule* rule = found != nullptr ? found->rule_for(30) : nullptr;
      return found == nullptr ? std::string("none")
                              : to_string(found->cfa, kAArch64) + " " +
                                    (rule != nullptr ? to_string(*rule, kAArch64) : "s");
    };
    CHECK(row(kPlt) == "sp+0 s");
    CHECK(row(kPlt + 4) == "sp+16 c-8");
    CHECK(row(kPlt + 16) == "sp+16 c-8");
    CHECK(row(kPlt + 32) == "sp+0 s");
    CHECK(row(kPlt + 44) == "sp+0 s");
    CHECK(row(kPlt + 56) == "sp+0 s");
  }
}

}  // namespace
}  // namespace whocall::test
