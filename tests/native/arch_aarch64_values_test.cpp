// What instructions of A64 do with values. Words are those of GNU as.
#include <doctest/doctest.h>

#include "arch/aarch64/facts.h"
#include "arch/aarch64/value_reader.h"
#include "arguments/value_state.h"
#include "base_bytes.h"
#include "followed_code.h"

namespace whocall::test {
namespace {

using Kind = Value::Kind;

constexpr Register kX29 = 29;
constexpr Register kLr = 30;
constexpr Register kStack = 31;
constexpr Address kHere = 0x401000;

class A64 : public FollowedCode {
 public:
  A64() : FollowedCode(kAArch64, 8) {}

  // Runs instructions, of which the first stands at the offset `at`.
  A64& run(std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      const auto flow = read(word);
      state.apply(flow, table, at_, exposed);
      at_ += 4;
    }
    return *this;
  }
  ValueFlow read(std::uint32_t word) {
    Bytes code;
    code.u32(word);
    auto flow = reader_->read(code.view(), kHere + at_);
    REQUIRE(flow.has_value());
    return *flow;
  }

 private:
  std::uint64_t at_ = 0;
  std::shared_ptr<ValueReader> reader_ = aarch64::make_value_reader();
};

TEST_CASE("values of A64: copies hold what was copied, parts of it a part") {
  A64 code;
  code.run({0xaa0003f3, 0x12001c01, 0x93407c02});  // mov x19,x0; and w1,w0,#255; sxtw x2,w0
  CHECK(code.get(19) == code.entry(0));
  CHECK(code.get(1) == code.table.narrowed(code.entry(0), 1, false));
  CHECK(code.get(2) == code.table.narrowed(code.entry(0), 4, true));
  code.run({0xaa1f03e7});  // mov x7,xzr
  CHECK(code.holds(7, 0));
}

TEST_CASE("values of A64: constants and addresses come in parts") {
  A64 code;
  code.run({0x528acf00, 0x72a24680});  // mov w0,#0x5678; movk w0,#0x1234,lsl #16
  CHECK(code.holds(0, 0x12345678));
  code.run({0x92800020, 0xf2c000e0});  // mov x0,#-2; movk x0,#7,lsl #32
  CHECK(code.holds(0, 0xffff0007fffffffe));
  code.run({0xb2009fe0});  // mov x0,#0x00ff00ff00ff00ff
  CHECK(code.holds(0, 0x00ff00ff00ff00ff));
  code.run({0x12800003});  // mov w3,#-1
  CHECK(code.holds(3, 0xffffffff));
  code.run({0xb0000085, 0x910060a5});  // adrp x5,.+0x11000; add x5,x5,#0x18
  CHECK(code.holds(5, 0x412018));
  A64 other;
  other.run({0x72a24680});  // movk of what is not known
  CHECK(other.is_new(0));
}

TEST_CASE("values of A64: pairs are saved and come back") {
  A64 code;
  code.run({0xa9bd7bfd, 0xa90153f3});  // stp x29,x30,[sp,#-48]!; stp x19,x20,[sp,#16]
  CHECK(code.get(kStack) == code.table.cfa(-48));
  REQUIRE(code.state.word_at(-48) != nullptr);
  CHECK(code.state.word_at(-48)->value == code.entry(kX29));
  CHECK(code.state.word_at(-40)->value == code.entry(kLr));
  CHECK(code.state.word_at(-24)->value == code.entry(20));
  code.run({0xaa0003f3, 0x94000010});  // mov x19,x0; bl
  CHECK(code.is_new(kLr));
  CHECK(code.get(19) == code.entry(0));
  code.run({0xa94153f3, 0xa8c37bfd});  // ldp x19,x20,[sp,#16]; ldp x29,x30,[sp],#48
  CHECK(code.get(19) == code.entry(19));
  CHECK(code.get(kLr) == code.entry(kLr));
  CHECK(code.get(kStack) == code.table.cfa(0));
}

TEST_CASE("values of A64: a base that is overwritten serves both words of a pair") {
  A64 code;
  code.run({0xa9400400});  // ldp x0,x1,[x0]
  REQUIRE(code.table.is(code.get(1), Kind::loaded));
  CHECK(code.table[code.get(1)].base == code.table.sum(code.entry(0), 8));
  CHECK(code.table[code.get(0)].base == code.entry(0));
  code.run({0xaa0103e0, 0xf8408c01});  // mov x0,x1; ldr x1,[x0,#8]!
  CHECK(code.table[code.get(1)].base == code.get(0));
}

TEST_CASE("values of A64: words of the stack hold what was stored, until something else is") {
  A64 code;
  code.run({0xf81f0fe0, 0xf94003e5});  // str x0,[sp,#-16]!; ldr x5,[sp]
  CHECK(code.get(5) == code.entry(0));
  code.run({0xc89fffe1});  // stlr x1,[sp]
  CHECK(code.state.word_at(-16)->value == code.entry(1));
  code.run({0x390023e1});  // strb w1,[sp,#8]
  CHECK(code.state.word_at(-8)->size == 1);
}

TEST_CASE("values of A64: an element of an array on the stack is handed away") {
  A64 code;
  code.run({0xf81f0fe0, 0x8b22cfe1});  // str x0,[sp,#-16]!; add x1,sp,w2,sxtw #3
  CHECK(code.exposed.contains(-16));
  CHECK(code.is_new(1));
  code.run({0xb8225801});  // str w1,[x0,w2,uxtw #2]
  CHECK(code.state.word_at(-16)->unsure);
}

TEST_CASE("values of A64: an index counts with its sign") {
  A64 code;
  code.run({0x12800003, 0x52800024});  // mov w3,#-1; mov w4,#1
  code.run({0x8b23c005, 0x8b244c06});  // add x5,x0,w3,sxtw; add x6,x0,w4,uxtw #3
  CHECK(code.get(5) == code.table.sum(code.entry(0), -1));
  CHECK(code.get(6) == code.table.sum(code.entry(0), 8));
}

TEST_CASE("values of A64: a small word is widened with its sign, and cleared above the half") {
  A64 code;
  code.run({0x79c00401});  // ldrsh w1,[x0,#2]
  const Value whole = code.table[code.get(1)];
  CHECK(whole.kind == Kind::low);
  CHECK(whole.size == 4);
  CHECK(code.table[whole.base].kind == Kind::extended);
}

TEST_CASE("values of A64: what computes loses what it writes and mixes what it reads") {
  A64 code;
  CHECK(code.read(0x9a821020).mixed == std::vector<Register>{1, 2});  // csel x0,x1,x2,ne
  CHECK(code.read(0x9e670000).mixed == std::vector<Register>{0});     // fmov d0,x0
  CHECK(code.read(0x9e670000).writes.empty());
  CHECK(code.read(0x0e073c01).writes.front().destination == Register{1});  // umov w1,v0.b[3]
  CHECK_FALSE(code.read(0xd50b7420).writes.front().stored_at.known);       // dc zva,x0
  CHECK(code.read(0xd63f0060).target->source == 3);                        // blr x3
  code.run({0xc8017c40});                                                  // stxr w1,x0,[x2]
  CHECK(code.is_new(1));
}

TEST_CASE("values of A64: no word takes more than it is, and none ends the reader") {
  const auto reader = aarch64::make_value_reader();
  std::uint32_t word = 0x2545f491;
  for (int i = 0; i < 200000; ++i) {
    word ^= word << 13U;
    word ^= word >> 17U;
    word ^= word << 5U;
    Bytes code;
    code.u32(word);
    const auto flow = reader->read(code.view(), kHere);
    for (const ValueWrite& write : flow ? flow->writes : std::vector<ValueWrite>()) {
      REQUIRE(write.destination.value_or(0) <= kStack);
      REQUIRE(write.size <= 8);
    }
  }
  CHECK_FALSE(reader->read(Bytes{0x1f, 0x20}.view(), kHere));
}

}  // namespace
}  // namespace whocall::test
