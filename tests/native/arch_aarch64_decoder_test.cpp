// What AArch64 instructions do to the stack pointer, to registers and to words of the stack. The
// words are those of the GNU assembler.
#include "aarch64_words.h"

namespace whocall::test {
namespace {

using namespace a64;
using Flow = Instruction::Flow;

void check_depth(std::initializer_list<std::uint32_t> code, std::int64_t below_cfa) {
  CHECK(behind(code).get(kSp) == AbstractValue::from_cfa(-below_cfa));
}

// A register that a call preserves is not what it was.
void check_lost(std::uint32_t word, Register number) {
  CAPTURE(word);
  CHECK(behind({word}).get(number) == AbstractValue{});
}
void check_kept(std::uint32_t word, Register number) {
  CAPTURE(word);
  CHECK(behind({word}).get(number) == AbstractValue::on_entry(number));
}

TEST_CASE("aarch64 decoder: frames are made and dropped in every form") {
  check_depth({0xa9bd7bfd}, 48);                                      // stp x29,x30,[sp,#-48]!
  check_depth({0xa9bd7bfd, 0xa8c37bfd}, 0);                           // ldp x29,x30,[sp],#48
  check_depth({0xd1404bff}, 0x12000);                                 // sub sp,sp,#0x12,lsl #12
  check_depth({0xf81f0ffe}, 16);                                      // str x30,[sp,#-16]!
  check_depth({0xf81f0ffe, 0xf84107fe}, 0);                           // ldr x30,[sp],#16
  check_depth({0xfc1f0fe8}, 16);                                      // str d8,[sp,#-16]!
  check_depth({0xfc1f0fe8, 0x3cc107e0}, 0);                           // ldr q0,[sp],#16
  check_depth({0xa9bd7bfd, 0x910003fd, 0xd10043bf}, 64);              // mov x29,sp; sub sp,x29,#16
  check_depth({0xa9bd7bfd, 0x910003fd, 0xd1404bff, 0x910003bf}, 48);  // mov sp,x29
}

TEST_CASE("aarch64 decoder: frames of scalable vectors, and of tagged words") {
  CHECK(behind({0x043f57df}).get(kSp) != AbstractValue::from_cfa(0));  // addvl sp,sp,#-2
  check_lost(0x047f503d, kFp);                                         // addpl x29,sp,#1
  check_depth({0x69bf07e0}, 32);                                       // stgp x0,x1,[sp,#-32]!
}

TEST_CASE("aarch64 decoder: a frame as large as a register says") {
  check_depth({0xd280020c, 0xf2a0002c, 0xcb2c63ff}, 0x10010);  // mov, movk x12; sub sp,sp,x12
  check_depth({0xd280020c, 0xcb2c63ff, 0x8b2c63ff}, 0);        // add sp,sp,x12
  CHECK(behind({0xcb2c63ff}).get(kSp) != AbstractValue::from_cfa(0));
}

TEST_CASE("aarch64 decoder: registers are saved where a pair and a single store put them") {
  const AbstractState saved = behind({0xa9bd7bfd, 0xa90153f3, 0xf90013f5});
  const auto holds = [&](std::int64_t offset, Register number) {
    const StackWord wanted{AbstractValue::from_cfa(offset), AbstractValue::on_entry(number)};
    return std::ranges::find(saved.slots(), wanted) != saved.slots().end();
  };
  CHECK(holds(-48, kFp));
  CHECK(holds(-40, kLink));
  CHECK(holds(-32, 19));
  CHECK(holds(-24, 20));
  CHECK(holds(-16, 21));
  // ldp x19,x20 and ldr x21 give them back.
  const AbstractState back =
      behind({0xa9bd7bfd, 0xa90153f3, 0xf90013f5, 0xaa0003f3, 0xa94153f3, 0xf94013f5});
  CHECK(back.get(19) == AbstractValue::on_entry(19));
  CHECK(back.get(21) == AbstractValue::on_entry(21));
  // stp d8,d9,[sp,#16] puts something else there.
  CHECK(behind({0xa9bd7bfd, 0xa90153f3, 0x6d0127e8}).slots().size() == 2);
}

TEST_CASE("aarch64 decoder: what writes a general register, and what does not") {
  CHECK(behind({0xaa0003f3}).get(19) == AbstractValue::on_entry(0));  // mov x19,x0
  check_lost(0x2a0003f3, 19);                                         // mov w19,w0
  check_lost(0x9e660013, 19);                                         // fmov x19,d0
  check_kept(0x9e670013, 19);                                         // fmov d19,x0
  check_lost(0x0e033c13, 19);                                         // umov w19,v0.b[1]
  check_lost(0xc85f7c13, 19);                                         // ldxr x19,[x0]
  check_lost(0xc8147c13, 20);                                         // stxr w20,x19,[x0]
  check_kept(0xc8147c13, 19);
  check_lost(0xf8210013, 19);  // ldadd x1,x19,[x0]
  check_kept(0xeb14027f, 19);  // cmp x19,x20
  check_lost(0xf8617813, 19);  // ldr x19,[x0,x1,lsl #3]
  check_lost(0x38401413, 19);  // ldrb w19,[x0],#1
  check_lost(0xc8b37c01, 19);  // cas x19,x1,[x0]
  check_lost(0xd53bd053, 19);  // mrs x19,tpidr_el0
  check_kept(0xd51bd053, 19);  // msr tpidr_el0,x19
  check_kept(0xf9800260, 19);  // prfm pldl1keep,[x19]
  check_lost(0x90000013, 19);  // adrp x19
  check_lost(0x9a810013, 19);  // csel x19,x0,x1,eq
  check_lost(0x9b010813, 19);  // madd x19,x0,x1,x2
  check_lost(0x4cdf7260, 19);  // ld1 {v0.16b},[x19],#16
  check_kept(0xfa530800, 19);  // ccmp x0,#19,#0,eq
  check_lost(0x4e062c13, 19);  // smov x19,v0.h[1]
  check_lost(0x4e183c13, 19);  // umov x19,v0.d[1]
  check_kept(0x4e0c1e60, 19);  // ins v0.s[1],w19
  check_lost(0x9e780013, 19);  // fcvtzs x19,d0
  check_lost(0x9e58f413, 19);  // fcvtzs x19,d0,#3
  check_kept(0x9e620013, 19);  // scvtf d19,x0
  check_lost(0x0ddf9260, 19);  // ld1 {v0.s}[1],[x19],#4
  check_lost(0x04bf5033, 19);  // rdvl x19,#1
}

TEST_CASE("aarch64 decoder: flow") {
  const auto flow = [](std::uint32_t word) { return decode(word)->flow; };
  CHECK(flow(0x94000010) == Flow::call);
  CHECK(decode(0x94000010)->target == Address{0x1040});
  CHECK(flow(0x17fffff0) == Flow::jump);
  CHECK(decode(0x17fffff0)->target == Address{0x1000 - 64});
  CHECK(flow(0xd63f0060) == Flow::call);           // blr
  CHECK(flow(0xd61f0060) == Flow::indirect_jump);  // br
  CHECK(flow(0xd71f0864) == Flow::indirect_jump);  // braa
  CHECK(flow(0xd65f03c0) == Flow::stop);           // ret
  CHECK(decode(0xd65f03c0)->returns);
  CHECK(decode(0xd65f0bff)->returns);     // retaa
  CHECK(flow(0xd4207d00) == Flow::stop);  // brk
  CHECK_FALSE(decode(0xd4207d00)->returns);
  CHECK(flow(0xd4000001) == Flow::next);  // svc
  for (const std::uint32_t word : {0x54000200U, 0xb4000200U, 0x37180200U}) {
    CHECK(flow(word) == Flow::branch);
    CHECK(decode(word)->target == Address{0x1040});
  }
  CHECK(decode(0xd503233f)->landing_pad);        // paciasp
  CHECK(decode(0xd503245f)->landing_pad);        // bti c
  CHECK_FALSE(decode(0xd50323bf)->landing_pad);  // autiasp
  CHECK(decode(0xd503201f)->padding);            // nop
  CHECK_FALSE(decode(0));                        // udf
}

TEST_CASE("aarch64 decoder: instructions as the assembler writes them") {
  const auto decoder = decoder_for(kAArch64);
  CHECK(decoder->text(words({0xa9bd7bfd}).view(), 0x1000) == "stp x29, x30, [sp, #-0x30]!");
  CHECK(decoder->text(words({0xd65f03c0}).view(), 0x1000) == "ret");
  CHECK(decoder->text(Bytes{0x00}.view(), 0x1000).empty());
}

}  // namespace
}  // namespace whocall::test
