// What LoongArch instructions do to the stack pointer, to registers and to words of the stack. The
// numbers are those of the GNU assembler.
#include "loongarch_words.h"

namespace whocall::test {
namespace {

using namespace la;
using Flow = Instruction::Flow;

void check_la_frame(std::initializer_list<std::uint32_t> words, std::int64_t below_cfa) {
  CHECK(behind(words).get(kSp) == AbstractValue::from_cfa(-below_cfa));
}

TEST_CASE("loongarch decoder: frames are made and dropped") {
  check_la_frame({0x02ff4063}, 48);                                      // addi.d sp,sp,-48
  check_la_frame({0x02ff4063, 0x02c0c063}, 0);                           // addi.d sp,sp,48
  check_la_frame({0x13fffc63}, 65536);                                   // addu16i.d sp,sp,-1
  check_la_frame({0x02ff4063, 0x02c0c076, 0x13fffc63, 0x02ff42c3}, 48);  // sp from fp
}

TEST_CASE("loongarch decoder: a frame as large as a register says") {
  // lu12i.w t1,-5; ori t1,t1,0x9c0; add.d sp,sp,t1, and back by sub.d
  check_la_frame({0x15ffff6d, 0x03a701ad, 0x0010b463}, 17984);
  check_la_frame({0x15ffff6d, 0x03a701ad, 0x0010b463, 0x0011b463}, 0);
  CHECK(behind({0x0010b463}).get(kSp) != AbstractValue::from_cfa(0));
}

TEST_CASE("loongarch decoder: registers are saved and come back") {
  const auto holds = [](const AbstractState& state, std::int64_t offset, Register number) {
    const StackWord wanted{AbstractValue::from_cfa(offset), AbstractValue::on_entry(number)};
    return std::ranges::find(state.slots(), wanted) != state.slots().end();
  };
  const AbstractState saved = behind({0x02ff4063, 0x29c0a061, 0x29c08076});  // st.d ra, fp
  CHECK(holds(saved, -8, kRa));
  CHECK(holds(saved, -16, kFp));
  CHECK(holds(behind({0x02ff4063, 0x27002076}), -16, kFp));      // stptr.d fp,sp,32
  for (const std::uint32_t load : {0x28c08076U, 0x26002076U}) {  // ld.d, ldptr.d fp,sp,32
    CAPTURE(load);
    const AbstractState back = behind({0x02ff4063, 0x29c08076, 0x02c0c076, load});
    CHECK(back.get(kFp) == AbstractValue::on_entry(kFp));
  }
  CHECK(behind({0x02ff4063, 0x29c02077}).slots().size() == 1);  // st.d s0,sp,8
  // Zero, a part, fs0, vr0, and what stptr.w and sc.d write, put something else there.
  for (const std::uint32_t other :
       {0x29c02060U, 0x29802064U, 0x2bc02078U, 0x2c402060U, 0x25000864U, 0x23000864U}) {
    CAPTURE(other);
    CHECK(behind({0x02ff4063, 0x29c02077, other}).slots().empty());
  }
  CHECK(behind({0x29c00077, 0x38619464}).slots().empty());  // amadd.d a0,a1,sp
}

TEST_CASE("loongarch decoder: what writes a general register") {
  CHECK(behind({0x00150097}).get(kS0) == AbstractValue::on_entry(kA0));  // move s0,a0
  CHECK(decode({0x03801c17})->list()[0].offset == 7);                    // li.w s0,7
  for (const std::uint32_t word : {
           0x028002f7U,  // addi.w s0,s0,0
           0x004082f7U,  // slli.w s0,s0,0
           0x386110b7U,  // amadd.w s0,a0,a1
           0x0114b817U,  // movfr2gr.d s0,fa0
           0x0114dc17U,  // movcf2gr s0,fcc0
           0x0114c817U,  // movfcsr2gr s0,fcsr0
           0x72eff417U,  // vpickve2gr.d s0,vr0,1
           0x76f3c417U,  // xvpickve2gr.wu s0,xr0,1
           0x28801097U,  // ld.w s0,a0,4
           0x2a001097U,  // ld.bu s0,a0,4
           0x380c1497U,  // ldx.d s0,a0,a1
           0x22000097U,  // ll.d s0,a0,0
           0x18000037U,  // pcaddi s0,1
           0x1a000037U,  // pcalau12i s0,1
           0x00830017U,  // bstrins.d s0,zero,3,0
           0x16000037U,  // lu32i.d s0,1
           0x030006f7U,  // lu52i.d s0,s0,1
       }) {
    CAPTURE(word);
    CHECK(behind({word}).get(kS0) == AbstractValue{});
  }
  CHECK(behind({0x002b0000}).get(kA0) == AbstractValue{});  // syscall
}

// The same numbers name registers of floating point, vectors and hints.
TEST_CASE("loongarch decoder: what does not write a general register") {
  for (const std::uint32_t word : {
           0x381c1497U,  // stx.d s0,a0,a1
           0x2b800097U,  // fld.d f23,a0,0
           0x0114a897U,  // movgr2fr.d f23,a0
           0x01010417U,  // fadd.d f23,f0,f1
           0x08210417U,  // fmadd.d f23,f0,f1,f2
           0x0c220400U,  // fcmp.ceq.d fcc0,f0,f1
           0x700b8417U,  // vadd.d vr23,vr0,vr1
           0x72ebf497U,  // vinsgr2vr.d vr23,a0,1
           0x38341497U,  // fldx.d f23,a0,a1
           0x2ac00097U,  // preld 23,a0,0
           0x382c1497U,  // preldx 23,a0,a1
           0x38720017U,  // dbar 23
       }) {
    CAPTURE(word);
    CHECK(behind({word}).get(kS0) == AbstractValue::on_entry(kS0));
  }
  CHECK(decode({0x00150000})->list().empty());  // into the register that is always 0
}

TEST_CASE("loongarch decoder: where it goes") {
  CHECK(decode({0x4c000020})->returns);
  CHECK(decode({0x002a0000})->flow == Flow::stop);  // break 0
  CHECK_FALSE(decode({0x002a0000})->returns);
  CHECK(decode({0x38600400})->flow == Flow::stop);           // amswap.w zero,ra,zero
  CHECK(decode({0x4c000180})->flow == Flow::indirect_jump);  // jr t0
  CHECK(decode({0x4c0001ed})->flow == Flow::indirect_jump);  // jirl t1,t3,0: a slot of the PLT
  CHECK(decode({0x4c000820})->flow == Flow::indirect_jump);  // jirl zero,ra,8
  CHECK(decode({0x4c0000a1})->flow == Flow::call);           // jirl ra,a1,0
  const auto check = [](std::uint32_t word, Flow flow, std::int64_t distance) {
    CAPTURE(word);
    const auto found = decode({word});
    REQUIRE(found);
    CHECK(found->flow == flow);
    CHECK(found->target == Address{0x1000} + static_cast<Address>(distance));
  };
  check(0x57fff3ff, Flow::call, -16);               // bl
  check(0x50002000, Flow::jump, 32);                // b
  check(0x58000885, Flow::branch, 8);               // beq a0,a1
  check(0x6c000885, Flow::branch, 8);               // bgeu a0,a1
  check(0x43fff89f, Flow::branch, -8);              // beqz a0
  check(0x44000082, Flow::branch, 0x80000);         // bnez a0
  check(0x48001100, Flow::branch, 16);              // bcnez fcc0
  check(0x5ffff46c, Flow::branch_if_unequal, -12);  // bne sp,t0: the probes of a large frame
}

TEST_CASE("loongarch decoder: a far call and a far jump are one, and their halves are others") {
  const auto call = decode({0x1e000021, 0x4ffff821}, 0x1000);  // pcaddu18i ra,1; jirl ra,ra,-8
  REQUIRE(call);
  CHECK(call->size == 8);
  CHECK(call->flow == Flow::call);
  CHECK(call->target == Address{0x40ff8});
  const auto jump = decode({0x1e00000c, 0x4c001180}, 0x1000);  // pcaddu18i t0,0; jirl zero,t0,16
  REQUIRE(jump);
  CHECK(jump->flow == Flow::jump);
  CHECK(jump->target == Address{0x1010});
  const auto page = decode({0x1a000021, 0x4c001021}, 0x1234);  // pcalau12i ra,1; jirl ra,ra,16
  REQUIRE(page);
  CHECK(page->target == Address{0x2010});
  CHECK(decode({0x1e000021, 0x4c0000a1})->size == 4);  // by another register
  CHECK(decode({0x1e00000c, 0x4c00018d})->size == 4);  // jirl t1,t0,0: neither
  CHECK(decode({0x4ffff821})->target == std::nullopt);
}

TEST_CASE("loongarch decoder: padding, and what is no instruction") {
  CHECK(decode({0x03400000})->padding);
  CHECK_FALSE(decode({0x00150000})->padding);
  CHECK_FALSE(decode({0x00000000}));  // what memory holds that nobody wrote
  CHECK_FALSE(decode({0xffffffff}));
  CHECK_FALSE(decode({0x04000004}));  // csrrd: the kernel's
  CHECK_FALSE(decoder_for(kLoongArch64)->decode(code({0x4c000020}).view().slice(0, 3).value(), 0));
}

TEST_CASE("loongarch decoder: text is what assemblers take") {
  const auto text = [](std::initializer_list<std::uint32_t> words) {
    return decoder_for(kLoongArch64)->text(code(words).view(), 0x1000);
  };
  CHECK(text({0x4c000020}) == ".word 0x4c000020");
  CHECK(text({0x1e000021, 0x4ffff821}) == ".word 0x1e000021, 0x4ffff821");
  CHECK(text({0}).empty());
}

}  // namespace
}  // namespace whocall::test
