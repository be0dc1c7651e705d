// Walks by the exception tables of ARM: frames that have called, and interrupted ones, of which the
// tables may tell what is not yet so.
#include <doctest/doctest.h>

#include "arch/arm/facts.h"
#include "base/error.h"
#include "exidx_tables.h"
#include "unwind/audit/audit.h"
#include "unwind_code.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kHelper = 0x401000;
constexpr Address kCaller = 0x401010;
constexpr Address kMain = 0x401030;
constexpr Address kLost = 0x401040;
constexpr Address kEnd = 0x401050;
constexpr Address kBackInCaller = kCaller + 12;
constexpr Address kBackInMain = kMain + 8;
constexpr Address kIndex = 0x402000;
constexpr Address kStack = 0x7ff00000;

Bytes code() {
  Bytes code;
  for (const unsigned word : {0xe2800001U, 0xe12fff1eU, 0xe1a00000U, 0xe1a00000U,  // helper
                              0xe92d4010U,  // caller: push {r4, lr}
                              0xe24dd008U,  // sub sp, sp, #8
                              0xebfffff8U,  // bl helper
                              0xe28dd008U,  // add sp, sp, #8
                              0xe8bd8010U,  // pop {r4, pc}
                              0xe1a00000U, 0xe1a00000U, 0xe1a00000U,
                              0xe92d4010U,  // main: push {r4, lr}
                              0xebfffff5U,  // bl caller
                              0xe8bd8010U,  // pop {r4, pc}
                              0xe1a00000U,
                              0xe1a0d000U,  // lost: mov sp, r0
                              0xebffffedU,  // bl helper
                              0xe12fff1eU, 0xe1a00000U}) {
    code.u32(word);
  }
  return code;
}

ExceptionTable table() {
  ExceptionTable table(kIndex);
  table.entry(kHelper, 0x80b0b0b0).entry(kCaller, 0x8001a8b0).entry(kMain, 0x80a8b0b0);
  return table.entry(kLost, 0x80a8b0b0).entry(kEnd, ExceptionTable::kCannotUnwind);
}

ExceptionTable refusing() {
  return ExceptionTable(kIndex).entry(kHelper, ExceptionTable::kCannotUnwind);
}

CodeFile file_with(const ExceptionTable& index) {
  return CodeFile(kArm)
      .code(kHelper, code())
      .section({.name = ".ARM.exidx", .address = kIndex, .bytes = index.bytes()});
}

TestProcess program(const ExceptionTable& index = table()) {
  TestProcess process(kArm);
  process.map(kHelper, code().get(), "r-x");
  process.module("/bin/prog", file_with(index).file(), {CodeFile::kBase, kIndex + 0x1000}, true);
  return process;
}

Stack of_caller() {
  Stack stack(kStack, kArm);
  stack.words(2, 0x1111).word(0x44).word(kBackInMain);
  return stack.mark("main sp").word(0x55).word(0).words(8, 0);
}

TEST_CASE("exception walk: by the tables, from where the instructions agree") {
  TestProcess process = program();
  const Stack stack = of_caller();
  process.stack(stack);
  WalkOptions options;
  options.registers = true;
  options.explain = true;
  const auto trace =
      process.walk({{"pc", kHelper}, {"sp", kStack}, {"lr", kBackInCaller}}, options);
  CHECK(pcs(trace) == "0x401000 0x40101c 0x401038");
  CHECK(trusts(trace) == "context cfi cfi");
  CHECK(trace.stop.reason == StopReason::end_of_stack);
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[2].sp == stack.at("main sp"));
  CHECK(trace.details[2].registers->get(4) == 0x44);
  CHECK(contains(trace.details[1].explanation, "with which the instructions agree"));
  CHECK(contains(trace.details[2].explanation,
                 "the .ARM.exidx entry of /bin/prog (CFA sp+16, return address c-4) leads to it"));
}

TEST_CASE("exception walk: in a prologue the instructions are right, and not the table") {
  TestProcess process = program();
  Stack stack(kStack, kArm);  // caller has pushed, and has not lowered the stack pointer yet
  process.stack(stack.word(0x44).word(kBackInMain).word(0x55).word(kBackInCaller).words(8, 0));
  const auto trace = process.walk({{"pc", kCaller + 4}, {"sp", kStack}, {"lr", kBackInMain}});
  REQUIRE(trace.frames.size() >= 2);
  CHECK(trace.frames[1].pc == kBackInMain);
  CHECK(trace.frames[1].trust == Trust::analysis);
}

TEST_CASE("exception walk: switched off, and where the table refuses, the next one is asked") {
  for (const bool refuses : {false, true}) {
    TestProcess process = refuses ? program(refusing()) : program();
    process.stack(of_caller());
    WalkOptions options;
    if (!refuses) {
      options.without = {"cfi"};
    }
    const auto trace =
        process.walk({{"pc", kHelper}, {"sp", kStack}, {"lr", kBackInCaller}}, options);
    CHECK(pcs(trace) == "0x401000 0x40101c 0x401038");
    CHECK(trusts(trace) == "context analysis analysis");
  }
}

TEST_CASE("exception walk: a link register is no return address once its function has called") {
  TestProcess process = program(ExceptionTable(kIndex).entry(kHelper, 0x80b0b0b0));
  process.stack(of_caller());
  const auto trace = process.walk({{"pc", kHelper}, {"sp", kStack}, {"lr", kBackInCaller}});
  CHECK(pcs(trace) == "0x401000 0x40101c 0x401038");
  CHECK(trusts(trace) == "context cfi analysis");
}

TEST_CASE("exception audit: calls alone, function by function") {
  const Audit right = audit_file(file_with(table()).file(), {});
  CHECK(right.calls.places == 3);
  CHECK(right.instructions.places == 3);
  CHECK(right.calls.registers == 2);  // lost is lost
  ExceptionTable wrong(kIndex);
  wrong.entry(kHelper, 0x80b0b0b0).entry(kCaller, 0x8002a8b0).entry(kMain, 0x80a8b0b0);
  const Audit found = audit_file(file_with(wrong).file(), {});
  REQUIRE_FALSE(found.differences.empty());
  CHECK(found.differences[0].address == kCaller + 8);
  CHECK(found.differences[0].table == "sp+20, r4 c-8, ra c-4");
  CHECK(found.differences[0].analysis == "sp+16, ra c-4, r4 c-8");
}

}  // namespace
}  // namespace whocall::test
