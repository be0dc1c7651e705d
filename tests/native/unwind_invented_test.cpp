// The whole line for an instruction set that shares nothing with x86: what a port may rely on.
#include <doctest/doctest.h>

#include "arch_invented.h"
#include "rules/dwarf.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x10000;
constexpr Address kMain = 0x10000;
constexpr Address kCaller = 0x10100;
constexpr Address kLeaf = 0x10200;
constexpr Address kHandler = 0x10300;
constexpr Address kTrampoline = 0x10400;
constexpr Address kStack = 0x7ff00000;
constexpr unsigned kSp = InventedCode::kSp;
constexpr unsigned kLink = InventedCode::kLink;
constexpr Register kLinkInTables = InventedCode::kLinkInTables;

// Where main's and the caller's calls return to, behind their delay slots.
constexpr Address kBackInMain = kMain + 0x14;
constexpr Address kBackInCaller = kCaller + 0x18;

// main, which calls the caller, which calls a leaf with a frame and no link saved; a handler of
// signals, and the code that it returns to. A frame: at sp the link to the caller's frame; there,
// at 4, the return address.
Bytes program() {
  InventedCode code(kCode);
  code.link_frame(-32).store(kLink, kSp, 36).nop();
  code.call(kCaller).nop();
  code.nop().up_to(kCaller);
  code.link_frame(-48).store(kLink, kSp, 52).store(4, kSp, 8).add(4, 0, 0);
  code.call(kLeaf).nop();
  code.load(4, kSp, 8).load(kLink, kSp, 52).jump_register(kLink).add(kSp, kSp, 48);
  code.up_to(kLeaf);
  code.add(kSp, kSp, -16).store(4, kSp, 12).nop().load(4, kSp, 12);
  code.jump_register(kLink).add(kSp, kSp, 16).up_to(kHandler);
  code.link_frame(-16).store(kLink, kSp, 20).nop().nop().nop().up_to(kTrampoline);
  code.system_call(0x77).nop();
  return code.bytes();
}

TestProcess process_of(const Bytes& code, const Bytes& frames = {}) {
  TestProcess process(kInvented);
  process.map(kCode, code.get(), "r-x");
  if (frames.size() != 0) {
    process.module("/bin/invented", {{kCode, kCode + code.size()}, 0, frames});
  }
  return process;
}

// The stack where main has called the caller, and the caller the leaf, which has its frame.
Stack calls() {
  Stack stack(kStack, kInvented);
  stack.mark("leaf sp").words(3, 0x1111).word(0x4444);
  stack.mark("caller sp").word_of("main sp").word(0).word(0x4040).words(9, 0x2222);
  stack.mark("main sp").word_of("start sp").word(kBackInMain).words(6, 0x3333);
  return stack.mark("start sp").word(0).word(0).words(8, 0);
}

TEST_CASE(
    "invented: the analysis follows a link register, delay slots and a saved return address") {
  TestProcess process = process_of(program());
  const Stack stack = calls();
  process.stack(stack);
  WalkOptions options = only({"analysis"});
  options.registers = true;
  const auto trace = process.walk(
      {{"pc", kLeaf + 8}, {"sp", stack.at("leaf sp")}, {"lr", kBackInCaller}, {"r4", 7}}, options);
  CHECK(pcs(trace) == "0x10208 0x10118 0x10014");
  CHECK(trusts(trace) == "context analysis analysis");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].sp == stack.at("caller sp"));
  CHECK(trace.details[1].registers->get(4) == 0x4444);
  CHECK(trace.frames[2].sp == stack.at("main sp"));
  CHECK(trace.details[2].registers->get(4) == 0x4040);
  CHECK(trace.frames[1].evidence.has(Evidence::call_target));
  CHECK(trace.frames[2].evidence.has(Evidence::call_target));
  CHECK(trace.frames[2].evidence.has(Evidence::frame_pointer));
}

TEST_CASE("invented: in the instructions of a prologue and an epilogue") {
  TestProcess process = process_of(program());
  const Stack stack = calls();
  process.stack(stack);
  // Nothing done; the frame made, the link not saved; all restored, the jump and its slot ahead.
  for (const Address pc : {kCaller, kCaller + 4, kCaller + 0x20}) {
    CAPTURE(pc);
    const Address sp = stack.at(pc == kCaller ? "main sp" : "caller sp");
    const auto trace =
        process.walk({{"pc", pc}, {"sp", sp}, {"lr", kBackInMain}}, only({"analysis"}));
    REQUIRE(trace.frames.size() == 2);
    CHECK(trace.frames[1].pc == kBackInMain);
    CHECK(trace.frames[1].sp == stack.at("main sp"));
  }
}

TEST_CASE("invented: unwind tables, and a link register that says nothing of a caller") {
  FrameTable frames(kInvented);
  const auto cie = frames.cie(Bytes().u8(0x0c).uleb(kSp).uleb(8));  // lr unchanged
  const Bytes caller =                                              // lr at CFA - 4
      Bytes().u8(0x0e).uleb(48 + 8).u8(dw::CFA_offset_extended).uleb(kLinkInTables).uleb(1);
  frames.fde(cie, {kMain, kMain + 0x100});  // says nothing of the frame that it makes
  frames.fde(cie, {kCaller, kCaller + 0x100}, caller);
  frames.fde(cie, {kLeaf, kLeaf + 0x100}, Bytes().u8(0x0e).uleb(16 + 8));
  TestProcess process = process_of(program(), frames.bytes());
  const Stack stack = calls();
  process.stack(stack);
  WalkOptions options = only({"cfi"});
  options.registers = true;
  const auto trace = process.walk(
      {{"pc", kLeaf + 8}, {"sp", stack.at("leaf sp")}, {"lr", kBackInCaller}}, options);
  CHECK(pcs(trace) == "0x10208 0x10118 0x10014");
  CHECK(trusts(trace) == "context cfi cfi");
  CHECK(trace.stop.reason == StopReason::no_caller);
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.details[0].registers->known(kLinkInTables));
  CHECK_FALSE(trace.details[1].registers->known(kLinkInTables));
  CHECK_FALSE(trace.details[2].registers->known(kLinkInTables));
}

TEST_CASE("invented: back chains lead on where no code is at hand") {
  TestProcess process = process_of(program());
  const Stack stack = calls();
  process.stack(stack);
  const auto trace = process.walk({{"pc", kCaller + 0x1c}, {"sp", stack.at("caller sp")}},
                                  only({"frame-pointer"}));
  CHECK(pcs(trace) == "0x1011c 0x10014");
  CHECK(trusts(trace) == "context frame-pointer");
  REQUIRE(trace.frames.size() == 2);
  CHECK(trace.frames[1].sp == stack.at("main sp"));
}

TEST_CASE("invented: the search knows where a return address lies in its frame") {
  TestProcess process = process_of(program());
  Stack stack(kStack, kInvented);
  stack.words(9, 0x5555).mark("main sp").word_of("start sp").word(kBackInMain).words(6, 0x3333);
  process.stack(stack.mark("start sp").words(10, 0));
  const auto trace = process.walk({{"pc", kCode + 0x2000}, {"sp", kStack}}, only({"scan"}));
  REQUIRE(trace.frames.size() == 2);
  CHECK(trace.frames[1].pc == kBackInMain);
  CHECK(trace.frames[1].sp == stack.at("main sp"));
}

TEST_CASE("invented: through a signal frame to the interrupted leaf and its link register") {
  TestProcess process = process_of(program());
  Stack stack(kStack, kInvented);
  stack.mark("handler sp").word_of("context").words(3, 0);
  stack.mark("context").word(0).word(kTrampoline);  // the handler's return address lies in it
  stack.words(12, 0x6666).word_of("leaf sp").word(kBackInCaller).word(kLeaf + 8).word(0x5555);
  stack.mark("leaf sp").words(3, 0x1111).word(0x4444);
  stack.mark("caller sp").word_of("main sp").word(0).word(0x4040).words(9, 0x2222);
  stack.mark("main sp").word_of("start sp").word(kBackInMain).words(6, 0x3333);
  process.stack(stack.mark("start sp").words(10, 0));
  const auto trace = process.walk({{"pc", kHandler + 8}, {"sp", stack.at("handler sp")}},
                                  only({"signal-frame", "analysis"}));
  CHECK(pcs(trace) == "0x10308 0x10400 0x10208 0x10118 0x10014");
  CHECK(trusts(trace) == "context analysis context analysis analysis");
}

TEST_CASE("invented: a call of no code left its return address in the link register") {
  TestProcess process = process_of(program());
  const Stack stack = calls();
  process.stack(stack);
  const auto trace = process.walk({{"pc", 0}, {"sp", stack.at("caller sp")}, {"lr", kBackInCaller}},
                                  only({"call-entry", "analysis"}));
  CHECK(pcs(trace) == "0x0 0x10118 0x10014");
}

TEST_CASE(
    "invented: a bit of return addresses that tells the mode of the code is no part of them") {
  Architecture modes = kInvented;
  modes.code.pointer_mask = ~Address{1};
  TestProcess process(modes);
  process.map(kCode, program().get(), "r-x");
  Stack stack(kStack, modes);
  stack.mark("leaf sp").words(3, 0x1111).word(0x4444);
  stack.mark("caller sp").word_of("main sp").word(0).word(0x4040).words(9, 0x2222);
  stack.mark("main sp").word_of("start sp").word(kBackInMain | 1).words(6, 0x3333);
  stack.mark("start sp").words(10, 0);
  process.stack(stack);
  const auto trace =
      process.walk({{"pc", kLeaf + 8}, {"sp", stack.at("leaf sp")}, {"lr", kBackInCaller | 1}}, {});
  CHECK(pcs(trace) == "0x10208 0x10118 0x10014");
}

TEST_CASE("invented: without a chain of frames, and without any code model, a walk ends in peace") {
  Architecture bare = kInvented;
  bare.frame.chain.reset();
  for (const bool has_code : {true, false}) {
    bare.code = has_code ? kInvented.code : CodeModel{};
    TestProcess process(bare);
    process.map(kCode, program().get(), "r-x");
    const Stack stack = calls();
    process.stack(stack);
    const auto trace = process.walk(
        {{"pc", kLeaf + 8}, {"sp", stack.at("leaf sp")}, {"lr", kBackInCaller}, {"fp", kStack}});
    CHECK(trace.frames.size() == (has_code ? 3 : 1));
  }
}

TEST_CASE(
    "invented: a call of what follows asks for the pc, and one beyond the code names nothing") {
  InventedCode code(kCode);
  code.call(kCode + 8)
      .nop()
      .call(kCode + 0x1000)
      .nop()
      .call(kCode + 0x20)
      .nop()
      .up_to(kCode + 0x40);
  StartMarks marks;
  kInvented.code.append_start_marks(code.bytes().view(Endian::big), kCode, marks);
  CHECK(marks.call_targets == std::vector<Address>{kCode + 0x20});
}

}  // namespace
}  // namespace whocall::test
