// What RISC-V instructions do to the stack pointer, to registers and to words of the stack. The
// numbers are those of the GNU assembler.
#include <capstone.h>

#include <string>
#include <vector>

#include "riscv_parcels.h"

namespace whocall::test {
namespace {

using namespace rv;
using Flow = Instruction::Flow;

void check_frame(std::initializer_list<std::uint32_t> all, std::int64_t below_cfa) {
  CHECK(behind(all).get(kSp) == AbstractValue::from_cfa(-below_cfa));
}
void check_unknown(std::uint32_t each, Register number) {
  CAPTURE(each);
  CHECK(behind({each}).get(number) == AbstractValue{});
}
void check_untouched(std::uint32_t each, Register number) {
  CAPTURE(each);
  CHECK(behind({each}).get(number) == AbstractValue::on_entry(number));
}

TEST_CASE("riscv decoder: frames are made and dropped, short and long") {
  check_frame({0x7179}, 48);                              // c.addi16sp sp,-48
  check_frame({0x7179, 0x6145}, 0);                       // c.addi16sp sp,48
  check_frame({0x7141}, 496);                             // c.addi16sp sp,-496
  check_frame({0x1141}, 16);                              // c.addi sp,-16
  check_frame({0xfd010113}, 48);                          // addi sp,sp,-48
  check_frame({0x7179, 0x1800, 0x7141, 0xfd040113}, 48);  // addi s0,sp,48; ...; addi sp,s0,-48
}

TEST_CASE("riscv decoder: a frame as large as a register says") {
  // lui t0,0xfffff; addi t0,t0,16; add sp,sp,t0, and back by sub
  check_frame({0xfffff2b7, 0x01028293, 0x00510133}, 4080);
  check_frame({0xfffff2b7, 0x01028293, 0x00510133, 0x40510133}, 0);
  CHECK(behind({0x00510133}).get(kSp) != AbstractValue::from_cfa(0));
}

TEST_CASE("riscv decoder: registers are saved and come back, short and long") {
  const auto holds = [](const AbstractState& state, std::int64_t offset, Register number) {
    const StackWord wanted{AbstractValue::from_cfa(offset), AbstractValue::on_entry(number)};
    return std::ranges::find(state.slots(), wanted) != state.slots().end();
  };
  const AbstractState saved = behind({0x7179, 0xf406, 0xf022});  // sd ra,40(sp); sd s0,32(sp)
  CHECK(holds(saved, -8, kRa));
  CHECK(holds(saved, -16, kFp));
  const AbstractState words = behind({0xfd010113, 0x02113423, 0x02813023});
  CHECK(holds(words, -8, kRa));
  CHECK(holds(words, -16, kFp));
  const AbstractState back = behind({0x7179, 0xf022, 0x1800, 0x7402});  // addi s0,sp,48; ld s0
  CHECK(back.get(kFp) == AbstractValue::on_entry(kFp));
  // fsd fs0,8(sp) and sd zero,8(sp) put something else there; so does sw a0,8(sp).
  for (const std::uint32_t other : {0xa422U, 0x00813427U, 0x00013423U, 0x00a12423U, 0xc42aU}) {
    CAPTURE(other);
    CHECK(behind({0x1141, 0xe422, other}).slots().empty());  // sd s0,8(sp)
    CHECK(behind({0x1141, 0xe422}).slots().size() == 1);
  }
}

TEST_CASE("riscv decoder: what writes a general register, and what does not") {
  CHECK(behind({0x84aa}).get(kS1) == AbstractValue::on_entry(kA0));      // c.mv s1,a0
  CHECK(behind({0x00050493}).get(kS1) == AbstractValue::on_entry(kA0));  // mv s1,a0
  check_unknown(0x0004849b, kS1);                                        // sext.w s1,s1
  check_unknown(0x2481, kS1);                                            // c.addiw s1,0
  check_unknown(0x00a5a4af, kS1);                                        // amoadd.w s1,a0,(a1)
  check_unknown(0xc00514d3, kS1);                                        // fcvt.w.s s1,fa0
  check_unknown(0xc00024f3, kS1);                                        // csrr s1,cycle
  check_unknown(0x4144, kS1);                                            // c.lw s1,4(a0)
  check_unknown(0x6904, kS1);                                            // c.ld s1,16(a0)
  check_untouched(0xe904, kS1);                                          // c.sd s1,16(a0)
  check_untouched(0x00813427, kFp);      // fsd fs0,8(sp), whose number is that of s0
  check_frame({0x00000013, 0x0001}, 0);  // nop, short and long
  check_unknown(0x00000073, kA0);        // ecall
}

TEST_CASE("riscv decoder: where it goes") {
  CHECK(decode({0x8082})->returns);
  CHECK(decode({0x00008067})->returns);
  CHECK(decode({0x9002})->flow == Flow::stop);
  CHECK_FALSE(decode({0x9002})->returns);
  CHECK(decode({0x8782})->flow == Flow::indirect_jump);      // c.jr a5
  CHECK(decode({0x00030067})->flow == Flow::indirect_jump);  // jr t1
  CHECK(decode({0x000e0367})->flow == Flow::indirect_jump);  // jalr t1,t3: a slot of the PLT
  CHECK(decode({0x9782})->flow == Flow::call);               // c.jalr a5
  CHECK(decode({0x000780e7})->flow == Flow::call);           // jalr a5
  const auto check = [](std::uint32_t each, Flow flow, std::int64_t distance) {
    CAPTURE(each);
    const auto found = decode({each});
    REQUIRE(found);
    CHECK(found->flow == flow);
    CHECK(found->target == Address{0x1000} + static_cast<Address>(distance));
  };
  check(0xff1ff0ef, Flow::call, -16);  // jal ra
  check(0x0200006f, Flow::jump, 32);   // j
  check(0xb7f5, Flow::jump, -20);      // c.j
  check(0x00b50463, Flow::branch, 8);  // beq
  check(0xc509, Flow::branch, 10);     // c.beqz
}

TEST_CASE("riscv decoder: a far call and a far jump are one, and their halves are others") {
  const auto call = decode({0x00000097, 0xee4080e7}, 0x1061c);  // auipc ra,0; jalr -284(ra)
  REQUIRE(call);
  CHECK(call->size == 8);
  CHECK(call->flow == Flow::call);
  CHECK(call->target == Address{0x10500});
  const auto jump = decode({0x00001317, 0x01030067}, 0x1000);  // auipc t1,1; jr 16(t1)
  REQUIRE(jump);
  CHECK(jump->flow == Flow::jump);
  CHECK(jump->target == Address{0x2010});
  CHECK(decode({0x00000097, 0x000780e7})->size == 4);  // by another register
  CHECK(decode({0xee4080e7})->target == std::nullopt);
}

TEST_CASE("riscv decoder: a call that saves registers for its caller hides the stack pointer") {
  const auto found = decode({0xff1ff2ef});  // jal t0
  REQUIRE(found);
  CHECK(found->flow == Flow::call);
  CHECK(behind({0xff1ff2ef}).get(kSp) != AbstractValue::from_cfa(0));
}

TEST_CASE("riscv decoder: landing pads, padding, and what is no instruction") {
  CHECK(decode({0x00000017})->landing_pad);  // lpad 0
  CHECK_FALSE(decode({0x00000097})->landing_pad);
  CHECK(decode({0x0001})->padding);
  CHECK(decode({0x00000013})->padding);
  CHECK_FALSE(decode({0x0000}));      // what memory holds that nobody wrote
  CHECK_FALSE(decode({0xffffffff}));  // longer than any
  CHECK_FALSE(decoder_for(kRiscv64)->decode(code({0x8082}).view().slice(0, 1).value(), 0));
}

// Capstone knows the set since its version 5.
TEST_CASE("riscv decoder: what is accessed in memory, by the library's word") {
  const auto kinds = [](std::uint32_t each) {
    const auto found = decoder_for(kRiscv64)->operation(code({each}).view(), 0x1000);
    std::string all;
    for (const Operand& operand : found ? found->operands : std::vector<Operand>()) {
      const bool is_memory = operand.kind == Operand::Kind::memory;
      all += is_memory ? 'm' : operand.kind == Operand::Kind::reg ? 'r' : 'n';
      all += is_memory ? "(" + operand.reg + ")" : "";
    }
    return all;
  };
  const bool knows_it = CS_API_MAJOR >= 5;
  CHECK(kinds(0xc288) == (knows_it ? "rm(a3)" : ""));       // c.sw a0,0(a3)
  CHECK(kinds(0x00a6a023) == (knows_it ? "rm(a3)" : ""));   // sw a0,0(a3)
  CHECK(kinds(0x30051573).find('m') == std::string::npos);  // csrrw
}

}  // namespace
}  // namespace whocall::test
