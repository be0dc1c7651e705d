// Which places hold the same value behind straight code, calls, loops and meetings of paths.
#include <doctest/doctest.h>

#include "arch/x86/value_reader.h"
#include "arch/x86/x86_64_facts.h"
#include "arguments/value_state.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Register kRax = 0;
constexpr Register kRdx = 1;
constexpr Register kRcx = 2;
constexpr Register kRbx = 3;
constexpr Register kRsi = 4;
constexpr Register kRdi = 5;
constexpr Register kRsp = 7;

class Code {
 public:
  // Runs one instruction that stands at the offset `at`.
  Code& run(std::uint64_t at, const Bytes& code) {
    const auto flow = reader_->read(code.view(), 0x401000 + at);
    REQUIRE(flow.has_value());
    state.apply(*flow, table, at, exposed);
    return *this;
  }
  Code& call(std::uint64_t at) {
    state.after_call(kX86_64, table, at, {WrittenRegisters().set(), reader_->results()}, exposed);
    return *this;
  }
  [[nodiscard]] bool same(Register one, Register other) const {
    return state.get(one) == state.get(other);
  }
  [[nodiscard]] const HeldWord* word(std::int64_t offset) const { return state.word_at(offset); }

  ValueTable table{8};
  ValueState state = ValueState::on_entry(kX86_64, table);
  ExposedWords exposed;

 private:
  std::shared_ptr<ValueReader> reader_ = x86::make_value_reader_64();
};

TEST_CASE("values: copies hold what was copied, parts of it a part") {
  Code code;
  code.run(0, {0x48, 0x89, 0xfb});  // mov %rdi,%rbx
  CHECK(code.same(kRbx, kRdi));
  code.run(3, {0x89, 0xf8});  // mov %edi,%eax
  CHECK(code.state.get(kRax) == code.table.narrowed(code.table.entry(kRdi), 4, false));
  code.run(5, {0x40, 0x88, 0xf9});  // mov %dil,%cl
  CHECK(code.table.is(code.state.get(kRcx), Value::Kind::partial));
  const ValueId part = code.table.narrowed(code.state.get(kRcx), 1, true);
  CHECK(part == code.table.narrowed(code.table.entry(kRdi), 1, true));
}

TEST_CASE("values: sums with constants are told from where they begin") {
  Code code;
  code.run(0, {0x48, 0x8d, 0x57, 0x08});  // lea 8(%rdi),%rdx
  code.run(4, {0x48, 0x83, 0xea, 0x08});  // sub $8,%rdx
  CHECK(code.same(kRdx, kRdi));
  code.run(8, {0x31, 0xc0});         // xor %eax,%eax
  code.run(10, {0x83, 0xc0, 0xff});  // add $-1,%eax
  CHECK(code.table[code.state.get(kRax)].number == 0xffffffff);
}

TEST_CASE("values: a word of the stack is what was stored there until something else is") {
  Code code;
  code.run(0, {0x89, 0x7c, 0x24, 0xf4});  // mov %edi,-12(%rsp)
  REQUIRE(code.word(-20) != nullptr);
  CHECK(code.word(-20)->size == 4);
  code.run(4, {0x8b, 0x44, 0x24, 0xf4});  // mov -12(%rsp),%eax
  CHECK(code.state.get(kRax) == code.table.narrowed(code.table.entry(kRdi), 4, false));
  code.run(8, {0xc6, 0x44, 0x24, 0xf6, 0x01});  // movb $1,-10(%rsp)
  CHECK(code.word(-20) == nullptr);
}

TEST_CASE("values: a call keeps what it must keep, and words to which it got no pointer") {
  Code code;
  code.run(0, {0x48, 0x83, 0xec, 0x18});         // sub $24,%rsp
  code.run(4, {0x48, 0x89, 0x34, 0x24});         // mov %rsi,(%rsp)
  code.run(8, {0x48, 0x89, 0x54, 0x24, 0x08});   // mov %rdx,8(%rsp)
  code.run(13, {0x48, 0x89, 0xfb});              // mov %rdi,%rbx
  code.run(16, {0x48, 0x8d, 0x7c, 0x24, 0x08});  // lea 8(%rsp),%rdi
  code.call(21);
  CHECK(code.state.get(kRbx) == code.table.entry(kRdi));
  CHECK(code.state.get(kRsi) != code.table.entry(kRsi));
  REQUIRE(code.word(-32) != nullptr);
  CHECK_FALSE(code.word(-32)->unsure);
  REQUIRE(code.word(-24) != nullptr);
  CHECK(code.word(-24)->unsure);                 // it may hold anything now
  code.run(26, {0x48, 0x8b, 0x44, 0x24, 0x08});  // mov 8(%rsp),%rax
  CHECK(code.state.get(kRax) != code.table.entry(kRdx));
}

TEST_CASE("values: where paths meet, places that were equal on both are equal still") {
  Code one;
  one.run(0, {0x48, 0x89, 0xfb}).run(3, {0x48, 0x89, 0xf8});  // mov %rdi,%rbx; mov %rdi,%rax
  Code other = one;
  one.run(6, {0x48, 0x89, 0xf3}).run(9, {0x48, 0x89, 0xf0});  // mov %rsi,%rbx; mov %rsi,%rax
  CHECK(other.state.merge(one.state, other.table, 20, other.exposed));
  CHECK(other.same(kRax, kRbx));
  CHECK_FALSE(other.same(kRax, kRdi));
  CHECK_FALSE(
      other.state.merge(one.state, other.table, 20, other.exposed));  // nothing more is lost
}

// for (x = a, y = a; ...; x++): in the first turn alone are they equal.
TEST_CASE("values: a loop tells apart what only its first turn had equal") {
  Code code;
  code.run(0, {0x48, 0x89, 0xfb}).run(3, {0x48, 0x89, 0xf8});  // mov %rdi,%rbx; mov %rdi,%rax
  ValueState head = code.state;
  for (int turn = 0; turn < 4; ++turn) {
    code.state = head;
    code.run(6, {0x48, 0xff, 0xc0});  // inc %rax
    if (!head.merge(code.state, code.table, 6, code.exposed)) {
      break;
    }
  }
  CHECK(head.get(kRax) != head.get(kRbx));
  CHECK(head.get(kRbx) == code.table.entry(kRdi));
}

TEST_CASE("values: what an instruction made in an earlier turn is not what it makes in the next") {
  Code code;
  code.run(0, {0x0f, 0xaf, 0xc7});  // imul %edi,%eax
  code.run(3, {0x48, 0x89, 0xc3});  // mov %rax,%rbx
  const ValueId first = code.state.get(kRbx);
  code.run(0, {0x0f, 0xaf, 0xc7});
  CHECK(code.state.get(kRax) == first);  // the same instruction
  CHECK_FALSE(code.same(kRax, kRbx));
}

TEST_CASE("values: a pointer to an element, or one out of two, is handed away") {
  Code code;
  code.run(0, {0x48, 0x83, 0xec, 0x18});         // sub $24,%rsp
  code.run(4, {0x89, 0x34, 0x24});               // mov %esi,(%rsp)
  code.run(7, {0x89, 0x54, 0x24, 0x0c});         // mov %edx,12(%rsp)
  code.run(11, {0x48, 0x8d, 0x7c, 0x8c, 0x0c});  // lea 12(%rsp,%rcx,4),%rdi
  code.call(16);
  CHECK_FALSE(code.word(-32)->unsure);
  CHECK(code.word(-20)->unsure);
  code.run(21, {0x89, 0x1c, 0x24});                    // mov %ebx,(%rsp)
  code.run(24, {0x48, 0x89, 0xe0, 0x48, 0x89, 0xc7});  // mov %rsp,%rax
  code.run(27, {0x48, 0x0f, 0x45, 0xf8});              // cmovne %rax,%rdi
  code.call(31);
  CHECK(code.word(-32)->unsure);
}

TEST_CASE("values: a store by an index may go to all of the array") {
  Code code;
  code.run(0, {0x48, 0x83, 0xec, 0x18});  // sub $24,%rsp
  code.run(4, {0x89, 0x74, 0x24, 0x08});  // mov %esi,8(%rsp)
  code.run(8, {0x89, 0x54, 0x8c, 0x04});  // mov %edx,4(%rsp,%rcx,4)
  CHECK(code.word(-24)->unsure);
}

TEST_CASE("values: the stack pointer's way is told by its distance from the CFA") {
  Code code;
  code.run(0, {0x55});                    // push %rbp
  code.run(1, {0x48, 0x89, 0xe5});        // mov %rsp,%rbp
  code.run(4, {0x48, 0x83, 0xec, 0x20});  // sub $32,%rsp
  CHECK(code.table[code.state.get(kRsp)].number == -48);
  code.run(8, {0xc9});  // leave
  CHECK(code.table[code.state.get(kRsp)].number == -8);
  CHECK(code.state.get(6) == code.table.entry(6));
}

}  // namespace
}  // namespace whocall::test
