// Where functions begin in a file without symbols, and what tells so.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/aarch64/facts.h"
#include "arch/arm/facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "start_code.h"
#include "symbols/discovery/function_starts.h"

namespace whocall::test {
namespace {

TEST_CASE("function starts: the entry point, calls, prologues and the section's start") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    Code code;
    const Address first = code.add({0x31, 0xc0, 0xc3});  // xor %eax,%eax; ret
    const Address guessed = code.add(framed(*arch));
    const Address called = code.add({0x31, 0xc0, 0xc3});
    const Address entry = code.call(called);
    code.call(called);
    code.add({0x31, 0xc0, 0xc3});
    const FunctionStarts starts = starts_of(*arch, code.file(*arch).entry(entry));
    CHECK(starts.evidence_at(first).has(StartEvidence::section_start));
    CHECK(starts.evidence_at(guessed).has(StartEvidence::prologue));
    CHECK(starts.evidence_at(called).has(StartEvidence::call_target));
    CHECK(starts.evidence_at(entry).has(StartEvidence::entry_point));
    CHECK(starts.evidence_at(called + 1) == StartEvidenceSet());
    CHECK_FALSE(starts.is_called(first));
    CHECK_FALSE(starts.is_called(guessed));
    CHECK(starts.is_called(called));
    CHECK(starts.is_called(entry));
  }
}

TEST_CASE("function starts: a function reaches from its start to the next one") {
  Code code;
  const Address first = code.add(framed(kX86_64));
  const Address second = code.add(framed(kX86_64));
  const FunctionStarts starts = starts_of(kX86_64, code.file(kX86_64));
  CHECK(starts.function_at(first) == AddressRange{first, second});
  CHECK(starts.function_at(second - 1) == AddressRange{first, second});
  CHECK(starts.function_at(second + 3) == AddressRange{second, code.next()});
  CHECK_FALSE(starts.function_at(code.next()).has_value());
  CHECK_FALSE(starts.function_at(first - 1).has_value());
  CHECK_FALSE(starts.function_at(0).has_value());
  CHECK_FALSE(starts.function_at(~Address{0}).has_value());
  Address before = 0;
  for (const FunctionStart& start : starts.all()) {
    CHECK(start.address > before);
    before = start.address;
  }
}

TEST_CASE("function starts: no guess stands where an unwind table knows a function") {
  Code code;
  const Address first = code.add(framed(kX86_64));
  const Address inside = code.add(framed(kX86_64));
  const Address behind = code.add(framed(kX86_64));
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), {first, behind});
  const FunctionStarts starts = starts_of(kX86_64, code.file(kX86_64).debug_frame(table));
  CHECK(starts.evidence_at(first).has(StartEvidence::fde));
  CHECK(starts.evidence_at(inside) == StartEvidenceSet());
  CHECK(starts.evidence_at(behind).has(StartEvidence::prologue));
  CHECK(starts.function_at(inside) == AddressRange{first, behind});
}

TEST_CASE("function starts: behind a call that never returns, where nothing is aligned") {
  const auto code = [](const Bytes& last) {
    return CodeFile(kX86_64).code(kText, Bytes{0xe8}
                                             .u32(0x21 - 5)  // call of the function at 0x21
                                             .u8(0xe8)
                                             .u32(0x27 - 10)
                                             .append(Bytes{0x48, 0x8d, 0x3d})
                                             .u32(0x2d - 17)  // lea taken(%rip),%rdi
                                             .u8(0xc3)
                                             .fill(0x21 - 18, 0xcc)
                                             .append(framed(kX86_64))
                                             .u8(0x55)
                                             .append(last)
                                             .append(Bytes{0x55, 0x53, 0x5b, 0x5d, 0xc3}));
  };
  constexpr Address kTaken = kText + 0x2d;
  const FunctionStarts behind_call = starts_of(kX86_64, code(Bytes{0xe8}.u32(0x21 - 0x2d)));
  CHECK(behind_call.evidence_at(kTaken).has(StartEvidence::address_taken));
  // A label in the middle of code, which pushes.
  const FunctionStarts label = starts_of(kX86_64, code({0x50, 0x50, 0x50, 0x50, 0x50}));
  CHECK(label.evidence_at(kTaken) == StartEvidenceSet());
}

TEST_CASE("function starts: functions that are not aligned before a library of those that are") {
  constexpr std::size_t kOwn = 41;
  constexpr std::size_t kLibrary = 200;
  constexpr std::uint32_t kCalls = 5 * (2 * kOwn + kLibrary);
  constexpr std::uint32_t kLea = 7;
  constexpr std::uint32_t kOwnBegin = kCalls + kLea + 1;
  constexpr std::uint32_t kTaken = kOwnBegin + 7 * kOwn;  // behind a call that never returns
  constexpr std::uint32_t kMoreBegin = kTaken + 5;
  constexpr std::uint32_t kLibraryBegin = (kMoreBegin + 7 * kOwn + 64) / 16 * 16;
  Bytes code;
  const auto call = [&](std::uint32_t target) {
    code.u8(0xe8);
    code.u32(target - static_cast<std::uint32_t>(code.size()) - 4);
  };
  for (std::uint32_t i = 0; i < kOwn; ++i) {
    call(kOwnBegin + 7 * i);
    call(kMoreBegin + 7 * i);
  }
  for (std::uint32_t i = 0; i < kLibrary; ++i) {
    call(kLibraryBegin + 16 * i);
  }
  code.append(Bytes{0x48, 0x8d, 0x3d}).u32(kTaken - kCalls - kLea).u8(0xc3);  // lea taken(%rip)
  const auto add_own = [&] {
    for (std::uint32_t i = 0; i < kOwn; ++i) {
      code.append(Bytes{0x53, 0x90});
      call(kLibraryBegin);
    }
  };
  add_own();
  code.append(Bytes{0x55, 0x53, 0x5b, 0x5d, 0xc3});
  add_own();
  code.fill(kLibraryBegin - code.size(), 0xcc);
  for (std::uint32_t i = 0; i < kLibrary; ++i) {
    code.append(framed(kX86_64)).fill(10, 0xcc);
  }
  const FunctionStarts starts = starts_of(kX86_64, CodeFile(kX86_64).code(kText, code));
  CHECK(starts.evidence_at(kText + kTaken).has(StartEvidence::address_taken));
}

TEST_CASE("function starts: what the instruction before goes on into is none") {
  // 13 bytes that end with add %eax,%ebx (01 c3), then or the return of a function, and at 16 an
  // argument that is pushed.
  const auto code = [](const Bytes& last) {
    return CodeFile(kI386).code(kText, Bytes{0x53, 0x31, 0xc0, 0x31, 0xdb, 0x83, 0xc0, 0x02}
                                           .append(Bytes{0x83, 0xc3, 0x05, 0x5a, 0x58, 0x90})
                                           .append(last)
                                           .append(Bytes{0x56, 0x31, 0xc0, 0x5e, 0x5b, 0xc3})
                                           .fill(32, 0xcc));
  };
  const FunctionStarts one = starts_of(kI386, code({0x01, 0xc3}));
  CHECK(one.evidence_at(kText + 16) == StartEvidenceSet());
  const FunctionStarts two = starts_of(kI386, code({0x5b, 0xc3}));
  CHECK(two.evidence_at(kText + 16).has(StartEvidence::prologue));
}

TEST_CASE(
    "function starts: a constant that looks like a call, in a file with one delimited function") {
  const Address inside = kText + 32 + 16;  // of an instruction
  const auto evidence = [&](bool called) {
    Code code;
    const Address delimited = called ? code.call(inside) : code.add({0xc3});
    const Address function = code.add(
        Bytes{0x55}.fill(13, 0x90).append(Bytes{0x48, 0xb8}).fill(8, 0).append(Bytes{0x5d, 0xc3}));
    code.call(function);
    code.call(function);
    Bytes constant{0x48, 0xb8, 0xe8};  // movabs, with a call's first byte
    constant.u32(called ? 0 : inside - (code.next() + 7)).append(Bytes{0, 0, 0, 0xc3});
    code.add(constant);
    FrameTable table(kX86_64);
    table.fde(table.usual_cie(), {delimited, delimited + 6});
    return starts_of(kX86_64, code.file(kX86_64).debug_frame(table)).evidence_at(inside);
  };
  CHECK(evidence(false) == StartEvidenceSet());
  CHECK(evidence(true).has(StartEvidence::call_target));  // nothing was read there
}

TEST_CASE("function starts: in T32, what code names with a mark is a function; else it is data") {
  constexpr Address kTaken = kText + 0x18;
  constexpr Address kNamed = kText + 0x1c;
  Bytes code;
  // push {r3,lr}; ldr r0,[pc,#12]; add r0,pc; ldr r1,[pc,#12]; add r1,pc; bl kText; pop {r3,pc}
  for (const unsigned half :
       {0xb508U, 0x4803U, 0x4478U, 0x4903U, 0x4479U, 0xf7ffU, 0xfff9U, 0xbd08U}) {
    code.u16(half);
  }
  code.u32(kTaken + 1 - (kText + 8)).u32(kNamed - (kText + 12));
  // ldr r0,[r0]; bx lr, twice
  for (const unsigned half : {0x6800U, 0x4770U, 0x6800U, 0x4770U}) {
    code.u16(half);
  }
  const FunctionStarts starts = starts_of(kArm, CodeFile(kArm).code(kText, code));
  CHECK(starts.evidence_at(kTaken) == StartEvidence::address_taken);
  CHECK(starts.evidence_at(kNamed) == StartEvidenceSet());
}

TEST_CASE("function starts: what a table delimits lends its name to nothing behind it") {
  constexpr Address kEnd = kText + 16;
  Bytes code;
  code.fill(32, 0x90).u8(0xc3);
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), {kText, kEnd});
  CodeProcess process(kX86_64, CodeFile(kX86_64).code(kText, code).debug_frame(table).entry(kText));
  const auto& inside = process.symbolizer.describe(kEnd - 1, {}).function;
  REQUIRE(inside.has_value());
  CHECK(inside->start == kText);
  CHECK_FALSE(process.symbolizer.describe(kEnd, {}).function.has_value());
  CHECK_FALSE(process.symbolizer.describe(kEnd + 8, {}).function.has_value());
}

TEST_CASE(
    "function starts: what code names right behind a table's function, wherever others stand") {
  constexpr Address kHandler = kText + 0x34;
  const auto starts = [](bool has_table) {
    constexpr std::uint32_t kNop = 0xd503201f;
    constexpr std::uint32_t kZero = 0x52800000;  // mov w0, #0
    constexpr std::uint32_t kReturn = 0xd65f03c0;
    Bytes code;
    for (const std::uint32_t word :
         {0x94000008U, 0x9400000fU, 0x94000016U,  // bl to 0x20, 0x40 and 0x60, aligned all three
          0x10000140U, kReturn,     kNop,        kNop,  kNop,         // adr x0, the handler
          kZero,       kZero,       kZero,       kZero, 0x1400000cU,  // and a jump to 0x60
          0xd53bd041U, kZero,       kReturn,  // the handler: mrs x1, tpidr_el0
          kZero,       kReturn,     kNop,        kNop,  kNop,        kNop, kNop, kNop,  //
          kZero,       kReturn}) {
      code.u32(word);
    }
    CodeFile file(kAArch64);
    file.code(kText, code);
    if (has_table) {
      FrameTable table(kAArch64);
      table.fde(table.usual_cie(), {kText + 0x20, kHandler});
      file.debug_frame(table);
    }
    return starts_of(kAArch64, file).evidence_at(kHandler);
  };
  CHECK(starts(true).has(StartEvidence::address_taken));
  CHECK(starts(false) == StartEvidenceSet());
}

TEST_CASE("function starts: a file without code") {
  CHECK_FALSE(starts_of(kX86_64, CodeFile(kX86_64)).function_at(kText).has_value());
}

}  // namespace
}  // namespace whocall::test
