// What instructions of A32 and T32 do with values. Words and halves are those of GNU as.
#include <doctest/doctest.h>

#include <algorithm>

#include "arch/arm/decoder.h"
#include "arch/arm/facts.h"
#include "arch/arm/frame_facts.h"
#include "arch/arm/value_reader.h"
#include "arguments/value_state.h"
#include "base_bytes.h"
#include "followed_code.h"

namespace whocall::test {
namespace {

using Kind = Value::Kind;

constexpr Register kThumbFrame = 7;
constexpr Register kFrame = 11;
constexpr Register kStack = 13;
constexpr Register kLr = 14;
constexpr Address kHere = 0x10000;

class ArmCode : public FollowedCode {
 public:
  explicit ArmCode(bool thumb) : FollowedCode(kArm, 4), thumb_(thumb) {}

  // Runs instructions, of which the first stands at the offset `at`; of T32 in half words.
  ArmCode& run(std::initializer_list<std::uint32_t> words) {
    Bytes code = bytes(words);
    std::uint64_t done = 0;
    while (done < code.view().size()) {
      const ByteView rest = code.view().from(done);
      const auto flow = arm::values_of(rest, kHere + at_, thumb_);
      const auto size = arm::decode(rest, kHere + at_, thumb_);
      REQUIRE(flow.has_value());
      REQUIRE(size.has_value());
      state.apply(*flow, table, at_, exposed);
      done += size->size;
      at_ += size->size;
    }
    return *this;
  }
  [[nodiscard]] ValueFlow read(std::initializer_list<std::uint32_t> words) const {
    Bytes code = bytes(words);
    auto flow = arm::values_of(code.view(), kHere + at_, thumb_);
    REQUIRE(flow.has_value());
    return *flow;
  }

 private:
  [[nodiscard]] Bytes bytes(std::initializer_list<std::uint32_t> words) const {
    Bytes code;
    for (const std::uint32_t word : words) {
      thumb_ ? code.u16(word) : code.u32(word);
    }
    return code;
  }

  bool thumb_;
  std::uint64_t at_ = 0;
};

ArmCode a32() { return ArmCode(false); }
ArmCode t32() { return ArmCode(true); }

std::vector<Register> registers_read(const ValueFlow& flow) {
  std::vector<Register> found;
  for (const ValueFlow::Read& read : flow.reads) {
    found.push_back(read.number);
  }
  std::ranges::sort(found);
  return found;
}

TEST_CASE("values of ARM: copies hold what was copied, parts of it a part") {
  ArmCode code = a32();
  code.run({0xe1a04000, 0xe20010ff, 0xe6bf2070});  // mov r4,r0; and r1,r0,#255; sxth r2,r0
  CHECK(code.get(4) == code.entry(0));
  CHECK(code.get(1) == code.table.narrowed(code.entry(0), 1, false));
  CHECK(code.get(2) == code.table.narrowed(code.entry(0), 2, true));
  code.run({0xe7ef3050});  // ubfx r3,r0,#0,#16
  CHECK(code.get(3) == code.table.narrowed(code.entry(0), 2, false));

  ArmCode thumb = t32();
  thumb.run({0x4604, 0xb2c1, 0xb202, 0x0003});  // mov r4,r0; uxtb r1,r0; sxth r2,r0; movs r3,r0
  CHECK(thumb.get(4) == thumb.entry(0));
  CHECK(thumb.get(1) == thumb.table.narrowed(thumb.entry(0), 1, false));
  CHECK(thumb.get(2) == thumb.table.narrowed(thumb.entry(0), 2, true));
  CHECK(thumb.get(3) == thumb.entry(0));
}

TEST_CASE("values of ARM: constants come in parts") {
  ArmCode code = a32();
  code.run({0xe3050678, 0xe3410234});  // movw r0,#0x5678; movt r0,#0x1234
  CHECK(code.holds(0, 0x12345678));
  code.run({0xe3a03c12, 0xe3833034});  // mov r3,#0x1200; orr r3,r3,#0x34
  CHECK(code.holds(3, 0x1234));
  code.run({0xe3c33004, 0xe3e02000});  // bic r3,r3,#4; mvn r2,#0
  CHECK(code.holds(3, 0x1230));
  CHECK(code.holds(2, 0xffffffff));
  ArmCode other = a32();
  other.run({0xe3410234, 0xe3833034});  // movt, orr of what is not known
  CHECK(other.is_new(0));
  CHECK(other.is_new(3));

  ArmCode thumb = t32();
  thumb.run({0xf245, 0x6078, 0xf2c1, 0x2034});  // movw r0,#0x5678; movt r0,#0x1234
  CHECK(thumb.holds(0, 0x12345678));
  thumb.run({0xf04f, 0x32ff, 0xf04f, 0x11ff});  // mov r2,#-1; mov r1,#0x00ff00ff
  CHECK(thumb.holds(2, 0xffffffff));
  CHECK(thumb.holds(1, 0x00ff00ff));
}

TEST_CASE("values of ARM: constants of the code, and addresses counted from the pc") {
  ArmCode code = a32();
  // ldr r3,[pc]; add r3,pc,r3; .word 0x1234: the pc is two instructions on
  code.run({0xe59f3000, 0xe08f3003});
  CHECK_FALSE(code.table.is(code.get(3), Kind::constant));  // memory has it, not these bytes
  const ValueFlow flow = code.read({0xe59f3000, 0xe08f3003, 0x1234});
  CHECK(flow.writes.front().number == 0x1234);
  ArmCode known = a32();
  known.run({0xe3a03c12, 0xe08f3003, 0xe28f2008});  // mov r3,#0x1200; add r3,pc,r3; adr r2,.+16
  CHECK(known.holds(3, kHere + 4 + 8 + 0x1200));
  CHECK(known.holds(2, kHere + 8 + 16));

  ArmCode thumb = t32();
  thumb.run({0x2310, 0x447b, 0xa203});  // movs r3,#16; add r3,pc; adr r2,.+16 at a multiple of 4
  CHECK(thumb.holds(3, kHere + 2 + 4 + 16));
  CHECK(thumb.holds(2, kHere + 4 + 4 + 12));
  CHECK(thumb.read({0x4b00, 0x5678, 0x1234}).writes.front().number == 0x12345678);  // ldr r3,[pc]
}

TEST_CASE("values of ARM: registers are saved and come back") {
  ArmCode code = a32();
  code.run(
      {0xe92d4830, 0xe28db00c, 0xe50b0018});  // push {r4,r5,fp,lr}; add fp,sp,#12; str r0,[fp,#-24]
  CHECK(code.get(kStack) == code.table.cfa(-16));
  CHECK(code.get(kFrame) == code.table.cfa(-4));
  REQUIRE(code.state.word_at(-16) != nullptr);
  CHECK(code.state.word_at(-16)->value == code.entry(4));
  CHECK(code.state.word_at(-4)->value == code.entry(kLr));
  CHECK(code.state.word_at(-28)->value == code.entry(0));
  code.run({0xe1a04000, 0xe8bd4830});  // mov r4,r0; pop {r4,r5,fp,lr}
  CHECK(code.get(4) == code.entry(4));
  CHECK(code.get(kFrame) == code.entry(kFrame));
  CHECK(code.get(kStack) == code.table.cfa(0));

  ArmCode thumb = t32();
  thumb.run({0xb590, 0xb085, 0xaf02, 0x6078});  // push {r4,r7,lr}; sub sp,#20; add r7,sp,#8; str
  CHECK(thumb.get(kThumbFrame) == thumb.table.cfa(-24));
  CHECK(thumb.state.word_at(-12)->value == thumb.entry(4));
  CHECK(thumb.state.word_at(-20)->value == thumb.entry(0));
  thumb.run({0xf8dd, 0x500c});  // ldr r5,[sp,#12]
  CHECK(thumb.get(5) == thumb.entry(0));
}

TEST_CASE("values of ARM: what is pushed for room is not read, what takes a variable number is") {
  CHECK(registers_read(a32().read({0xe92d4007})) == std::vector<Register>{kStack, kLr});
  CHECK(registers_read(a32().read({0xe92d000e})) == std::vector<Register>{1, 2, 3, kStack});
  CHECK(registers_read(a32().read({0xe92d0008})) == std::vector<Register>{kStack});
}

TEST_CASE("values of ARM: a base that is overwritten serves all words") {
  ArmCode code = a32();
  code.run({0xe1c000d0});  // ldrd r0,r1,[r0]
  CHECK(code.table[code.get(1)].base == code.table.sum(code.entry(0), 4));
  CHECK(code.table[code.get(0)].base == code.entry(0));
  ArmCode many = a32();
  many.run({0xe9900003});  // ldmib r0,{r0,r1}
  CHECK(many.table[many.get(0)].base == many.table.sum(many.entry(0), 4));
  CHECK(many.table[many.get(1)].base == many.table.sum(many.entry(0), 8));
  ArmCode moved = a32();
  moved.run({0xe5b01004, 0xe4901004});  // ldr r1,[r0,#4]!; ldr r1,[r0],#4
  CHECK(moved.get(0) == moved.table.sum(moved.entry(0), 8));
  CHECK(moved.table[moved.get(1)].base == moved.table.sum(moved.entry(0), 4));
  ArmCode thumb = t32();
  thumb.run({0xe9d0, 0x0100, 0xf84d, 0x2d08});  // ldrd r0,r1,[r0]; str r2,[sp,#-8]!
  CHECK(thumb.table[thumb.get(1)].base == thumb.table.sum(thumb.entry(0), 4));
  CHECK(thumb.state.word_at(-8)->value == thumb.entry(2));
}

// Compilers count from the end of a frame: add r1,sp,#40; add r2,r1,r3,lsl #2; str r0,[r2,#-40].
TEST_CASE("values of ARM: an element of an array on the stack hands all of the frame away") {
  ArmCode code = a32();
  code.run({0xe24dd030, 0xe58d0000});              // sub sp,sp,#48; str r0,[sp]
  code.run({0xe28d1028, 0xe0812103, 0xe5020028});  // the three
  CHECK(code.exposed.contains(-48));
  CHECK(code.state.word_at(-48)->unsure);
}

TEST_CASE("values of ARM: an instruction under a condition leaves nothing known") {
  ArmCode code = a32();
  code.run({0xe24dd008, 0xe58d1000});              // sub sp,sp,#8; str r1,[sp]
  code.run({0x11a00004, 0x18bd8010, 0x158d0000});  // movne r0,r4; popne {r4,pc}; strne r0,[sp]
  CHECK(code.is_new(0));
  CHECK(code.get(4) == code.entry(4));  // who pops has gone
  CHECK(code.get(kStack) == code.table.cfa(-8));
  CHECK(code.state.word_at(-8) == nullptr);
  CHECK(code.read({0x1b00000e}).may_not_run);        // blne
  CHECK_FALSE(code.read({0xeb00000e}).may_not_run);  // bl
  ArmCode address = a32();
  address.run({0xe24dd008, 0xe1a0400d, 0x11a00004});  // sub sp,sp,#8; mov r4,sp; movne r0,r4
  CHECK(address.exposed.contains(-8));
}

TEST_CASE("values of ARM: what an IT instruction makes conditional") {
  ArmCode code = t32();
  code.run({0xbf0c, 0x2001, 0x4601});  // ite eq; moveq r0,#1; movne r1,r0
  CHECK(code.is_new(0));
  CHECK(code.is_new(1));
  ArmCode gone = t32();
  gone.run({0xbf04, 0x2000, 0xbd10});  // itt eq; moveq r0,#0; popeq {r4,pc}
  CHECK(gone.get(0) == gone.entry(0));
  CHECK(gone.get(kStack) == gone.table.cfa(0));
  // itt ne; ldrne r3,[r0]; addne r3,#1: what was in r3 before is not read
  CHECK(registers_read(gone.read({0xbf1c, 0x6803, 0x3301})) == std::vector<Register>{0});
  // itte ne; movne r3,r4; strne r3,[sp]; moveq r5,r3: under the contrary it is
  CHECK(registers_read(gone.read({0xbf1a, 0x4623, 0x9300, 0x461d})) ==
        std::vector<Register>{3, 4, kStack});
}

TEST_CASE("values of ARM: a call under a condition has what was put there for it") {
  // itt ne; movne r0,r4; blne
  const ValueFlow flow = t32().read({0xbf1c, 0x4620, 0xf000, 0xf81e});
  CHECK(flow.may_not_run);
  REQUIRE(flow.before_call.size() == 1);
  CHECK(flow.before_call.front().destination == Register{0});
  CHECK(flow.before_call.front().source == 4);
  // ite eq; moveq r0,#1; blne: the contrary has not run
  CHECK(t32().read({0xbf0c, 0x2001, 0xf000, 0xf81e}).before_call.empty());
  CHECK(t32().read({0xbf18, 0x4798}).target->source == 3);  // it ne; blxne r3
}

TEST_CASE("values of ARM: what computes loses what it writes and mixes what it reads") {
  const ArmCode code = a32();
  const auto writes = [](const ValueFlow& flow) {
    std::vector<Register> found;
    for (const ValueWrite& write : flow.writes) {
      found.push_back(write.destination.value_or(99));
    }
    return found;
  };
  CHECK(code.read({0xe0000291}).mixed == std::vector<Register>{1, 2});        // mul r0,r1,r2
  CHECK(writes(code.read({0xe0a10392})) == std::vector<Register>{0, 1});      // umlal r0,r1,r2,r3
  CHECK(code.read({0xe0a10392}).mixed == std::vector<Register>{2, 3, 0, 1});  // which adds
  CHECK(code.read({0xe1600281}).mixed == std::vector<Register>{1, 2});        // smulbb r0,r1,r2
  CHECK(code.read({0xee000a10}).mixed == std::vector<Register>{0});           // vmov s0,r0
  CHECK(writes(code.read({0xee100a10})) == std::vector<Register>{0});         // vmov r0,s0
  CHECK(writes(code.read({0xe1821f90})) == std::vector<Register>{99, 1});     // strex r1,r0,[r2]
  CHECK(code.read({0xe6a70011}).mixed == std::vector<Register>{1});           // ssat r0,#8,r1
  CHECK(code.read({0xe1a01800}).reads.front().size == 2);                     // lsl r1,r0,#16
  CHECK_FALSE(code.read({0xe7110002}).loads.front().place.known);             // ldr r0,[r1,-r2]
  CHECK(code.read({0xed900b02}).loads.front().size == 8);                     // vldr d0,[r0,#8]
  CHECK_FALSE(code.read({0xed900b02}).loads.front().general);
  CHECK(code.read({0xed2d8b04}).writes.front().stored_size == 16);  // vpush {d8,d9}
  CHECK(code.read({0xe12fff33}).target->source == 3);               // blx r3
  const ArmCode thumb = t32();
  CHECK(thumb.read({0xf361, 0x100b}).mixed == std::vector<Register>{0, 1});    // bfi r0,r1,#4,#8
  CHECK(writes(thumb.read({0xfb82, 0x0103})) == std::vector<Register>{1, 0});  // smull r0,r1
  CHECK(registers_read(thumb.read({0xe8df, 0xf000})) == std::vector<Register>{0});  // tbb [pc,r0]
}

std::vector<Register> changed(const Instruction& instruction) {
  std::vector<Register> found;
  for (const Effect& effect : instruction.list()) {
    const bool other = effect.kind == Effect::Kind::store || effect.kind == Effect::Kind::compare ||
                       effect.kind == Effect::Kind::store_other;
    if (!other && effect.destination < arm::kPc) {
      found.push_back(effect.destination);
    }
  }
  return found;
}

// Of all words, those of no instruction too: nothing ends the reader, and what unwinding knows to
// change it says to be written.
TEST_CASE("values of ARM: no word writes less than unwinding says, and none ends the reader") {
  std::uint32_t word = 0x2545f491;
  for (int i = 0; i < 200000; ++i) {
    word ^= word << 13U;
    word ^= word >> 17U;
    word ^= word << 5U;
    const bool thumb = i % 2 != 0;
    Bytes code;
    code.u32(i % 3 == 0 ? word | 0xe0000000 : word).u32(word * 2654435761U).u32(word).u32(~word);
    const auto flow = arm::values_of(code.view(), kHere, thumb);
    const auto instruction = arm::decode(code.view(), kHere, thumb);
    REQUIRE(flow.has_value() == instruction.has_value());
    for (const ValueWrite& write : flow ? flow->writes : std::vector<ValueWrite>()) {
      REQUIRE(write.destination.value_or(0) < arm::kPc);
      const bool is_whole =
          write.from == ValueWrite::From::unknown || write.from == ValueWrite::From::constant;
      REQUIRE((is_whole || write.size <= 4));
    }
    const bool joined = thumb && (code.view().read<std::uint16_t>(0).value_or(0) >> 8U) == 0xbf;
    if (!instruction || joined) {
      continue;
    }
    for (const Register each : changed(*instruction)) {
      INFO(word, " ", thumb, " ", each);
      REQUIRE(std::ranges::any_of(
          flow->writes, [&](const ValueWrite& write) { return write.destination == each; }));
    }
  }
  CHECK_FALSE(arm::values_of(Bytes{0x1f, 0x20, 0x03}.view(), kHere, false));
  CHECK_FALSE(arm::values_of(Bytes{0x1f}.view(), kHere, true));
  CHECK_FALSE(arm::values_of(Bytes{0x18, 0xbf}.view(), kHere, true));  // it ne, and nothing behind
  const auto reader = arm::make_value_reader();
  CHECK(reader->read(Bytes{0x04, 0x46}.view(), kHere).has_value());
}

}  // namespace
}  // namespace whocall::test
