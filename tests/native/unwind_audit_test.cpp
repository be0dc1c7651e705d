// The audit of small files: what agrees, what differs, and what cannot be audited.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base/error.h"
#include "unwind/audit/audit.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

constexpr Address kText = 0x401000;

// push %rbx; nop; pop %rbx; ret, four bytes in both instruction sets
const Bytes kCode{0x53, 0x90, 0x5b, 0xc3};

// Rows for kCode: behind the push, which is `late` bytes later than it should be, a word more.
Bytes rows(const Architecture& arch, unsigned late) {
  const unsigned word = arch.abi.pointer_size;
  Bytes program{0x41U + late, 0x0e};                       // advance; DW_CFA_def_cfa_offset
  program.uleb(2ULL * word).append(Bytes{0x80U | 3U, 2});  // DW_CFA_offset rbx/ebx at CFA - 2 words
  return program.append(Bytes{0x42U - late, 0x0e}).uleb(word).append(Bytes{0xc0U | 3U});
}

Audit audit(const Architecture& arch, unsigned late, const AuditOptions& options = {}) {
  FrameTable table(arch);
  table.fde(table.usual_cie(), {kText, kText + kCode.size()}, rows(arch, late));
  return audit_file(CodeFile(arch).code(kText, kCode).debug_frame(table).file(), options);
}

TEST_CASE("audit: a right table agrees at every instruction, registers too") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    const Audit found = audit(*arch, 0);
    CHECK(found.architecture == arch->name);
    CHECK(found.functions == 1);
    CHECK(found.instructions.places >= 3);  // padding is no place of its own where nobody goes
    CHECK(found.instructions.cfa == found.instructions.places);
    CHECK(found.instructions.return_address == found.instructions.places);
    CHECK(found.instructions.registers == found.instructions.places);
    CHECK(found.calls.places == 0);
    CHECK(found.differences.empty());
  }
}

TEST_CASE("audit: a table that is late differs where it is") {
  const Audit found = audit(kX86_64, 1);
  CHECK(found.instructions.cfa + 1 == found.instructions.places);
  REQUIRE(found.differences.size() == 1);
  const AuditDifference& difference = found.differences[0];
  CHECK(difference.outcome == AuditOutcome::cfa_differs);
  CHECK(difference.address == kText + 1);
  CHECK(difference.function == kText);
  CHECK_FALSE(difference.is_call);
  CHECK(difference.table == "rsp+8, ra c-8");
  CHECK(difference.analysis == "rsp+16, ra c-8, rbx c-16");
  CHECK_FALSE(difference.code.empty());
}

TEST_CASE("audit: limits") {
  CHECK(audit(kX86_64, 1, {.difference_limit = 0, .check_interrupt = {}}).differences.empty());
  std::size_t asked = 0;
  const auto stop = [&] {
    ++asked;
    throw 7;
  };
  CHECK_THROWS_AS(audit(kX86_64, 0, {.check_interrupt = stop}), int);
  CHECK(asked == 1);
}

TEST_CASE("audit: every second function only") {
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  Bytes text;
  for (unsigned i = 0; i < 5; ++i) {
    table.fde(cie, {kText + 4 * i, kText + 4 * i + 4}, rows(kX86_64, 0));
    text.append(kCode);
  }
  const auto file = CodeFile(kX86_64).code(kText, text).debug_frame(table).file();
  CHECK(audit_file(file, {.check_interrupt = {}}).functions == 5);
  CHECK(audit_file(file, {.every = 2, .check_interrupt = {}}).functions == 3);
}

TEST_CASE("audit: files that have nothing to compare") {
  CHECK_THROWS_AS(audit_file(CodeFile(kX86_64).code(kText, kCode).file(), {}), Error);
  // The table covers more than there is; the audit ends with the code.
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), {kText, kText + 0x10000000});
  const Audit found =
      audit_file(CodeFile(kX86_64).code(kText, kCode).debug_frame(table).file(), {});
  CHECK(found.functions == 1);
}

}  // namespace
}  // namespace whocall::test
