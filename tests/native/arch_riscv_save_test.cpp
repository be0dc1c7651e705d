// Calls of routines that save registers for their caller (-msave-restore). The numbers are those of
// libgcc's routines, from the GNU assembler.
#include <algorithm>
#include <array>
#include <span>

#include "arch/code_model.h"
#include "riscv_parcels.h"

namespace whocall::test {
namespace {

using namespace rv;

constexpr Address kRoutines = 0x1000;
constexpr Address kCall = 0x2000;
constexpr Address kSave12 = kRoutines;
constexpr Address kSave4 = kRoutines + 0x26;
constexpr Address kSave2 = kRoutines + 0x30;
constexpr Address kSave0 = kRoutines + 0x42;

const Bytes& routines() {
  static const Bytes bytes = code({
      0x7159, 0x4301, 0xe46e, 0xa019,                  // c.addi16sp sp,-112; li t1,0; sd s11,8(sp)
      0x7159, 0x4305, 0xe86a, 0xec66, 0xa019,          // li t1,1; s10, s9
      0x7159, 0x4309, 0xf062, 0xf45e, 0xa019,          // li t1,2; s8, s7
      0x7159, 0x430d, 0xf85a, 0xfc56, 0xa019,          // li t1,3; s6, s5
      0x7159, 0x4311, 0xe0d2, 0xe4ce, 0xa019,          // li t1,4; s4, s3
      0x7159, 0x4315, 0xe8ca, 0xeca6, 0xf0a2, 0xf486,  // li t1,5; s2, s1, s0, ra
      0x0312, 0x911a, 0x8282,                          // slli t1,t1,4; add sp,sp,t1; jr t0
      0x1141, 0xe022, 0xe406, 0x8282,                  // of s0 and ra alone
  });
  return bytes;
}

std::optional<Instruction> call_of(Address routine, const Bytes& around = routines()) {
  const auto read = [&](Address address, std::span<std::byte> out) {
    const ByteView there = around.view().from(address - kRoutines);
    const std::size_t size = std::min(there.size(), out.size());
    std::ranges::copy(there.bytes().first(size), out.begin());
    return size;
  };
  // jal t0,routine
  const auto distance = static_cast<std::uint32_t>(routine - kCall);
  const std::uint32_t word = 0x2efU | (distance & 0x100000U) << 11U | (distance & 0x7feU) << 20U |
                             (distance & 0x800U) << 9U | (distance & 0xff000U);
  const auto decoder = decoder_for(kRiscv64, read);
  return decoder->decode(code({word}).view(), kCall);
}

AbstractState behind_call_of(Address routine) {
  AbstractState state(kRiscv64);
  const auto call = call_of(routine);
  REQUIRE(call);
  CHECK(call->flow == Instruction::Flow::call);
  CHECK(call->target == routine);
  for (const Effect& effect : call->list()) {
    state.apply(effect);
  }
  return state;
}

void check_saved(const AbstractState& state, std::int64_t offset, Register number) {
  CAPTURE(number);
  const StackWord wanted{AbstractValue::from_cfa(offset), AbstractValue::on_entry(number)};
  CHECK(std::ranges::find(state.slots(), wanted) != state.slots().end());
}

TEST_CASE("riscv: behind a call that saves registers for its caller the frame is known") {
  const AbstractState least = behind_call_of(kSave0);
  CHECK(least.get(kSp) == AbstractValue::from_cfa(-16));
  check_saved(least, -8, kRa);
  check_saved(least, -16, kFp);
  const AbstractState two = behind_call_of(kSave2);
  CHECK(two.get(kSp) == AbstractValue::from_cfa(-32));
  check_saved(two, -8, kRa);
  check_saved(two, -24, kS1);
  CHECK(two.slots().size() == 4);
  const AbstractState four = behind_call_of(kSave4);
  CHECK(four.get(kSp) == AbstractValue::from_cfa(-48));
  check_saved(four, -48, 20);
  CHECK(four.slots().size() == 6);
  const AbstractState most = behind_call_of(kSave12);
  CHECK(most.get(kSp) == AbstractValue::from_cfa(-112));
  check_saved(most, -8, kRa);
  check_saved(most, -88, 25);
}

TEST_CASE("riscv: routines that do anything else leave the stack pointer unknown") {
  const auto is_unknown = [](std::initializer_list<std::uint32_t> routine) {
    const auto call = call_of(kRoutines, code(routine));
    REQUIRE(call);
    AbstractState state(kRiscv64);
    for (const Effect& effect : call->list()) {
      state.apply(effect);
    }
    return state.get(kSp).kind != AbstractValue::Kind::cfa;
  };
  CHECK_FALSE(is_unknown({0x1141, 0xe022, 0xe406, 0x8282}));
  CHECK(is_unknown({0x1141, 0xe022, 0xe406, 0x8082}));  // comes back by ra
  CHECK(is_unknown({0x1141, 0xe022, 0xe406, 0x9282}));  // calls by t0
  CHECK(is_unknown({0x1141, 0xe022, 0xe406}));          // ends
  CHECK(is_unknown({0x1141, 0x8282}));                  // saves nothing
  CHECK(is_unknown({0xe022, 0xe406, 0x8282}));          // below the stack pointer
  CHECK(is_unknown({0x1141, 0xe406, 0x911a, 0x8282}));  // add sp,sp,t1, which nobody set
  CHECK(is_unknown({0x1141, 0xe406, 0x852a, 0x8282}));  // mv a0,a0
  CHECK(is_unknown({0xa001}));                          // jumps to itself
}

TEST_CASE("riscv: functions begin by such a call") {
  const Bytes function = code({0x8082, 0xff1ff2ef});  // ret; jal t0,.-16
  CHECK(kRiscv64.code.features_at_start(function.view(), 2).prologue);
  const Bytes other = code({0x8082, 0xff1ff0ef});  // jal ra,.-16
  CHECK_FALSE(kRiscv64.code.features_at_start(other.view(), 2).prologue);
}

}  // namespace
}  // namespace whocall::test
