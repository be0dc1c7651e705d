// What ARM instructions do to the stack pointer, to registers and to words of the stack, in A32 and
// T32. The words are those of the GNU assembler.
#include <doctest/doctest.h>

#include <initializer_list>

#include "arch/arm/decoder.h"
#include "arch/arm/facts.h"
#include "arch/instruction.h"
#include "base_bytes.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall::test {
namespace {

using Flow = Instruction::Flow;
constexpr Address kAt = 0x1000;
constexpr Register kFp = 11;
constexpr Register kSp = 13;
constexpr Register kLink = 14;

// Code of one mode, as the assembler's listing shows it.
struct Code {
  bool thumb = false;
  Bytes bytes;
};
Code t32(std::initializer_list<std::uint32_t> halves) {
  Code code{true, {}};
  for (const std::uint32_t half : halves) {
    code.bytes.u16(half);
  }
  return code;
}
Code a32(std::initializer_list<std::uint32_t> words) {
  Code code;
  for (const std::uint32_t word : words) {
    code.bytes.u32(word);
  }
  return code;
}

std::optional<Instruction> decode(const Code& code, std::uint64_t at = 0) {
  return arm::decode(code.bytes.view().from(at), kAt + at, code.thumb);
}

// The state of a called function behind straight code.
AbstractState behind(const Code& code) {
  AbstractState state(kArm);
  for (std::uint64_t at = 0; at < code.bytes.view().size();) {
    const auto instruction = decode(code, at);
    REQUIRE(instruction.has_value());
    REQUIRE(instruction->is_whole);
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
    at += instruction->size;
  }
  return state;
}

void check_depth(const Code& code, std::int64_t below_cfa) {
  CHECK(behind(code).get(kSp) == AbstractValue::from_cfa(-below_cfa));
}
// A register that a call preserves is not what it was.
void check_lost(const Code& code, Register number) {
  CHECK(behind(code).get(number) == AbstractValue{});
}
void check_kept(const Code& code, Register number) {
  CHECK(behind(code).get(number) == AbstractValue::on_entry(number));
}
bool holds(const AbstractState& state, std::int64_t offset, Register number) {
  const StackWord wanted{AbstractValue::from_cfa(offset), AbstractValue::on_entry(number)};
  return std::ranges::find(state.slots(), wanted) != state.slots().end();
}

TEST_CASE("arm decoder: T32 makes frames and drops them in every form") {
  check_depth(t32({0xb5f0}), 20);                                  // push {r4-r7,lr}
  check_depth(t32({0xe92d, 0x4ff0}), 36);                          // stmdb sp!,{r4-r11,lr}
  check_depth(t32({0xb40f}), 16);                                  // push {r0-r3}
  check_depth(t32({0xf84d, 0xed08}), 8);                           // str lr,[sp,#-8]!
  check_depth(t32({0xb086}), 24);                                  // sub sp,#24
  check_depth(t32({0xf5ad, 0x5d80}), 4096);                        // sub.w sp,sp,#4096
  check_depth(t32({0xf2ad, 0x4d0c}), 1036);                        // subw sp,sp,#1036
  check_depth(t32({0xed2d, 0x8b04}), 16);                          // vpush {d8-d9}
  check_depth(t32({0xed2d, 0x8b04, 0xecbd, 0x8b04}), 0);           // vpop {d8-d9}
  check_depth(t32({0xb086, 0xb006}), 0);                           // add sp,#24
  check_depth(t32({0xb5f0, 0xb086, 0xaf02, 0x3710, 0x46bd}), 20);  // add r7,sp,#8; adds; mov sp,r7
  check_depth(t32({0xf84d, 0xed08, 0xf85d, 0xeb04}), 4);           // ldr lr,[sp],#4
  check_depth(t32({0xf241, 0x0c10, 0xf2c0, 0x0c01, 0xebad, 0x0d0c}), 0x11010);  // sub sp,sp,ip
  check_depth(t32({0xe96d, 0x4e04}), 16);  // strd r4,lr,[sp,#-16]!
}

TEST_CASE("arm decoder: A32 makes frames and drops them in every form") {
  check_depth(a32({0xe92d4070}), 16);                                     // push {r4-r6,lr}
  check_depth(a32({0xe52de004}), 4);                                      // str lr,[sp,#-4]!
  check_depth(a32({0xe24dd018, 0xe24dda01}), 24 + 4096);                  // sub sp,sp,#
  check_depth(a32({0xed2d8b04}), 16);                                     // vpush {d8-d9}
  check_depth(a32({0xed2d8b04, 0xecbd8b04}), 0);                          // vpop {d8-d9}
  check_depth(a32({0xe52de004, 0xe49de004}), 0);                          // ldr lr,[sp],#4
  check_depth(a32({0xe92d4800, 0xe28db004, 0xe24dd018, 0xe24bd004}), 8);  // by the frame pointer
  check_depth(a32({0xe301c010, 0xe340c001, 0xe04dd00c}), 0x11010);        // sub sp,sp,ip
  check_depth(a32({0xe16d41f0}), 16);                                     // strd r4,[sp,#-16]!
  // mov ip,sp; push {fp,ip,lr,pc}; sub fp,ip,#4: the old frame
  const AbstractState old = behind(a32({0xe1a0c00d, 0xe92dd800, 0xe24cb004}));
  CHECK(old.get(kSp) == AbstractValue::from_cfa(-16));
  CHECK(old.get(kFp) == AbstractValue::from_cfa(-4));
  CHECK(holds(old, -16, kFp));
  CHECK(holds(old, -8, kLink));
}

TEST_CASE("arm decoder: registers are saved in the order of their numbers") {
  const AbstractState saved = behind(t32({0xe92d, 0x4ff0}));
  CHECK(holds(saved, -4, kLink));
  CHECK(holds(saved, -8, kFp));
  CHECK(holds(saved, -36, 4));
  CHECK(holds(behind(t32({0xe92d, 0x4038})), -12, 4));  // behind r3
  CHECK(holds(behind(a32({0xe92d4070})), -16, 4));
  CHECK(holds(behind(t32({0xb086, 0x9401})), -20, 4));           // str r4,[sp,#4]
  CHECK(holds(behind(a32({0xe16d41f0})), -16, 4));               // strd r4
  check_kept(t32({0xb086, 0x9401, 0x2401, 0x9c01}), 4);          // ldr r4,[sp,#4]
  check_kept(t32({0xe96d, 0x4e04, 0x2401, 0xf85d, 0x4b04}), 4);  // ldr r4,[sp],#4
}

TEST_CASE("arm decoder: what writes a general register, and what does not") {
  check_lost(t32({0xf3ef, 0x8400}), 4);  // mrs r4
  check_lost(t32({0xee10, 0x4a10}), 4);  // vmov r4,s0
  check_lost(t32({0xe850, 0x4f00}), 4);  // ldrex r4
  check_lost(t32({0xe844, 0x1500}), 5);  // strex r5,r1,[r4]
  check_kept(t32({0xe844, 0x1500}), 4);
  check_lost(t32({0xfba0, 0x4501}), 4);  // umull r4,r5
  check_lost(t32({0xfba0, 0x4501}), 5);
  check_lost(t32({0xfb90, 0xf4f1}), 4);  // sdiv
  check_lost(t32({0xf924, 0x070d}), 4);  // vld1.8 {d0},[r4]!
  check_kept(t32({0x2c01}), 4);          // cmp r4,#1
  check_kept(t32({0xf1b4, 0x0f01}), 4);  // cmp.w r4,#1
  check_lost(a32({0xe0040190}), 4);      // mul
  check_lost(a32({0xe0854190}), 4);      // umull
  check_lost(a32({0xe0854190}), 5);
  check_lost(a32({0xe1dd40b4}), 4);  // ldrh
  check_kept(a32({0xe1cd40b4}), 4);  // strh
  check_lost(a32({0xe734f110}), 4);  // udiv
  check_lost(a32({0xe7e140d0}), 4);  // ubfx
  check_lost(a32({0xe16f4f10}), 4);  // clz
  check_lost(a32({0xe10f4000}), 4);  // mrs
  check_lost(a32({0xee104a10}), 4);  // vmov r4,s0
  check_lost(a32({0xe1904f9f}), 4);  // ldrex
  check_lost(a32({0xe1804f91}), 4);  // strex r4,r1,[r0]
  check_lost(a32({0xf424070d}), 4);  // vld1.8 {d0},[r4]!
  check_kept(a32({0xe3540001}), 4);  // cmp r4,#1
}

TEST_CASE("arm decoder: what happens under a condition may have happened") {
  const Code block = t32({0xbf04, 0x2401, 0xb002});  // itt eq; moveq r4,#1; addeq sp,#8
  CHECK(decode(block)->size == 6);
  CHECK(decode(block)->flow == Flow::next);
  check_lost(block, 4);
  CHECK(behind(block).get(kSp) != AbstractValue::from_cfa(0));
  CHECK(behind(block).get(kSp) != AbstractValue::from_cfa(8));
  const Code leaving = t32({0xb510, 0xbf18, 0xbd10});  // push; it ne; popne {r4,pc}
  CHECK(decode(leaving, 2)->flow == Flow::next);
  check_depth(leaving, 8);
  check_depth(a32({0xe92d4010, 0x18bd8010}), 8);
  CHECK(decode(a32({0x012fff1e}))->flow == Flow::next);
  CHECK(decode(a32({0x1a00000e}))->flow == Flow::branch);
  CHECK(decode(a32({0x979ff103}))->flow == Flow::indirect_jump);  // ldrls pc,[pc,r3,lsl #2]
  CHECK(decode(a32({0x1b00000e}))->flow == Flow::call);
  const Code call = t32({0xbf18, 0xf7ff, 0xfffe});  // it ne; blne
  CHECK(decode(call)->flow == Flow::call);
  CHECK(decode(call)->target == Address{kAt + 2});
}

TEST_CASE("arm decoder: flow") {
  const auto returns = [](const Code& code) {
    const auto instruction = decode(code);
    return instruction->flow == Flow::stop && instruction->returns;
  };
  CHECK(returns(t32({0x4770})));
  CHECK(returns(t32({0xbdf0})));
  CHECK(returns(t32({0xe8bd, 0x8ff0})));
  CHECK(returns(t32({0xf85d, 0xfb08})));
  CHECK(returns(a32({0xe12fff1e})));
  CHECK(returns(a32({0xe1a0f00e})));
  CHECK(returns(a32({0xe8bd8070})));
  CHECK(returns(a32({0xe49df004})));
  CHECK(returns(a32({0xe91ba800})));  // ldmdb fp,{fp,sp,pc}
  CHECK(returns(a32({0xe89da800})));  // ldm sp,{fp,sp,pc}
  CHECK(decode(t32({0x4718}))->flow == Flow::indirect_jump);
  CHECK(decode(t32({0x4798}))->flow == Flow::call);
  CHECK(decode(t32({0xde00}))->flow == Flow::stop);
  CHECK(decode(a32({0xe7f000f0}))->flow == Flow::stop);
  CHECK(decode(a32({0xe12fff33}))->flow == Flow::call);
  CHECK(decode(a32({0xeb00003e}))->target == Address{kAt + 0x100});
  CHECK(decode(a32({0xfa00003e}))->target == Address{kAt + 0x100});
  CHECK(decode(a32({0xea00000e}))->target == Address{kAt + 0x40});
  CHECK(decode(t32({0x4778}))->target == Address{kAt + 4});  // bx pc
  CHECK(decode(t32({0xbf00}))->padding);
  CHECK(decode(a32({0xe320f000}))->padding);
}

TEST_CASE("arm decoder: a switch owns the table behind it, and constants are read") {
  // tbb [pc,r3]; three cases: behind 2, 3 and 4 half words
  const auto jump = decode(t32({0xe8df, 0xf003, 0x0302, 0x0004, 0x4770}));
  CHECK(jump->flow == Flow::indirect_jump);
  CHECK(jump->size == 8);
  // ldr r3,[pc,#0]; add sp,r3; .word -4096
  const Code far = t32({0x4b00, 0x449d, 0xf000, 0xffff});
  const auto load = decode(far);
  AbstractState state(kArm);
  for (const auto& instruction : {load, decode(far, 2)}) {
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
  }
  CHECK(state.get(kSp) == AbstractValue::from_cfa(-4096));
}

}  // namespace
}  // namespace whocall::test
