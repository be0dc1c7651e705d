// Expressions that are wrong, endless or hostile: always a miss, always soon.
#include <doctest/doctest.h>

#include <random>

#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"
#include "memory/segment_memory.h"
#include "rules/dwarf.h"
#include "unwind/rows/expression.h"

namespace whocall::test {
namespace {

std::optional<std::uint64_t> run(const Bytes& code) {
  const std::vector<std::byte> stack(64);
  const SegmentMemory memory({{0x7000, stack}});
  Registers registers;
  registers.set(kX86_64.registers.sp, 0x7000);
  return evaluate(code.view(), {kX86_64, registers, memory, std::nullopt});
}

TEST_CASE("expression limits: nothing on the stack to work on") {
  for (const unsigned op :
       {dw::OP_dup, dw::OP_drop, dw::OP_over, dw::OP_swap, dw::OP_rot, dw::OP_deref, dw::OP_abs,
        dw::OP_neg, dw::OP_not, dw::OP_and, dw::OP_plus, dw::OP_div, dw::OP_mod, dw::OP_eq}) {
    CAPTURE(op);
    CHECK_FALSE(run(Bytes().u8(op)).has_value());
    // One operand is too few for the binary ones, and two for rot; what follows does not mend it.
    CHECK_FALSE(run(Bytes().u8(op).u8(dw::OP_lit0)).has_value());
  }
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_plus}).has_value());
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_lit0, dw::OP_rot}).has_value());
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_pick, 1}).has_value());
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_drop}).has_value());
}

TEST_CASE("expression limits: division by zero") {
  CHECK_FALSE(run({dw::OP_lit31, dw::OP_lit0, dw::OP_div}).has_value());
  CHECK_FALSE(run({dw::OP_lit31, dw::OP_lit0, dw::OP_mod}).has_value());
}

TEST_CASE("expression limits: operations without a meaning in unwind rules") {
  // DW_OP_reg0, fbreg, piece, push_object_address, call2, call_frame_cfa, implicit_value,
  // stack_value, entry_value, and numbers that nobody has given.
  for (const unsigned op : {0x50U, 0x91U, 0x93U, 0x97U, 0x98U, 0x9cU, 0x9eU, 0x9fU, 0xa3U, 0x00U,
                            0x01U, 0x18U, 0xe0U, 0xffU}) {
    CAPTURE(op);
    CHECK_FALSE(run(Bytes{dw::OP_lit0, dw::OP_lit0}.u8(op)).has_value());
  }
}

TEST_CASE("expression limits: operands that are cut off") {
  CHECK_FALSE(run({dw::OP_const8u, 1, 2, 3}).has_value());
  CHECK_FALSE(run({dw::OP_constu, 0x80}).has_value());
  CHECK_FALSE(run({dw::OP_breg0 + 7}).has_value());
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_pick}).has_value());
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_skip, 0}).has_value());
}

TEST_CASE("expression limits: branches out of the expression") {
  CHECK_FALSE(run(Bytes{dw::OP_lit0, dw::OP_skip}.u16(1)).has_value());
  CHECK_FALSE(run(Bytes{dw::OP_lit0, dw::OP_skip}.u16(0x7fff)).has_value());
  CHECK_FALSE(run(Bytes{dw::OP_lit0, dw::OP_skip}.u16(static_cast<std::uint16_t>(-5))).has_value());
  CHECK_FALSE(run(Bytes{dw::OP_lit0, dw::OP_skip}.u16(0x8000)).has_value());
}

TEST_CASE("expression limits: loops end") {
  CHECK_FALSE(run(Bytes{dw::OP_lit0, dw::OP_skip}.u16(static_cast<std::uint16_t>(-3))).has_value());
  CHECK_FALSE(
      run(Bytes{dw::OP_lit0, dw::OP_lit0 + 1, dw::OP_bra}.u16(static_cast<std::uint16_t>(-4)))
          .has_value());
}

TEST_CASE("expression limits: the stack does not grow without end") {
  const Bytes many = Bytes().fill(255, dw::OP_lit0 + 1);
  CHECK(run(many) == 1U);
  const Bytes too_many = Bytes().fill(100000, dw::OP_lit0 + 1);
  CHECK_FALSE(run(too_many).has_value());
  const Bytes loop = Bytes{dw::OP_lit0, dw::OP_skip}.u16(static_cast<std::uint16_t>(-4));
  CHECK_FALSE(run(loop).has_value());
}

TEST_CASE("expression limits: random bytes are a value or a miss, soon") {
  std::mt19937 random(77);
  int values = 0;
  for (int round = 0; round < 50000; ++round) {
    Bytes code{dw::OP_lit0 + 1, dw::OP_breg0 + 7, 0};
    const std::size_t size = random() % 12;
    for (std::size_t i = 0; i < size; ++i) {
      code.u8(random() & 0xffU);
    }
    values += run(code).has_value() ? 1 : 0;
  }
  CHECK(values > 1000);  // some are sound, so the rounds reach beyond the first operation
}

}  // namespace
}  // namespace whocall::test
