// DWARF expressions: every operation with a value worked out by hand.
#include "unwind/rows/expression.h"

#include <doctest/doctest.h>

#include <limits>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"
#include "memory/segment_memory.h"
#include "rules/dwarf.h"

namespace whocall::test {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

// rsp (or esp) is 0x7000; there lie the bytes 01 02 .. 08, then 0x7010, 0xfe.
struct Machine {
  explicit Machine(const Architecture& the_arch) : arch(the_arch), memory({{0x7000, bytes.get()}}) {
    registers.set(arch.registers.sp, 0x7000);
    registers.set(arch.registers.fp, 0x7100);
  }
  std::optional<std::uint64_t> operator()(const Bytes& code,
                                          std::optional<Address> initial = {}) const {
    return evaluate(code.view(), {arch, registers, memory, initial});
  }

  const Architecture& arch;
  Bytes bytes = Bytes{1, 2, 3, 4, 5, 6, 7, 8}.u64(0x7010).u64(0xfe);
  SegmentMemory memory;
  Registers registers;
};

// Pushes two signed numbers and applies a binary operation.
std::optional<std::uint64_t> binary(const Machine& machine, std::int64_t left, std::int64_t right,
                                    unsigned op) {
  return machine(Bytes().u8(dw::OP_consts).sleb(left).u8(dw::OP_consts).sleb(right).u8(op));
}

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

TEST_CASE("expression: constants of every width") {
  const Machine run(kX86_64);
  CHECK(run({dw::OP_lit0}) == 0U);
  CHECK(run({dw::OP_lit31}) == 31U);
  CHECK(run({dw::OP_const1u, 0xff}) == 0xffU);
  CHECK(run({dw::OP_const1s, 0xff}) == bits(-1));
  CHECK(run(Bytes{dw::OP_const2u}.u16(0x8000)) == 0x8000U);
  CHECK(run(Bytes{dw::OP_const2s}.u16(0x8000)) == bits(-0x8000));
  CHECK(run(Bytes{dw::OP_const4u}.u32(0x80000000)) == 0x80000000U);
  CHECK(run(Bytes{dw::OP_const4s}.u32(0x80000000)) == bits(-0x80000000LL));
  CHECK(run(Bytes{dw::OP_const8u}.u64(~0ULL)) == ~std::uint64_t{0});
  CHECK(run(Bytes{dw::OP_const8s}.u64(5)) == 5U);
  CHECK(run(Bytes{dw::OP_constu}.uleb(300)) == 300U);
  CHECK(run(Bytes{dw::OP_consts}.sleb(-300)) == bits(-300));
  CHECK(run(Bytes{dw::OP_addr}.u64(0x401000)) == 0x401000U);
}

TEST_CASE("expression: registers with offsets") {
  const Machine run(kX86_64);
  CHECK(run(Bytes().u8(dw::OP_breg0 + 7U).sleb(-8)) == 0x6ff8U);
  CHECK(run(Bytes().u8(dw::OP_breg0 + 6U).sleb(16)) == 0x7110U);
  CHECK(run(Bytes{dw::OP_bregx}.uleb(7).sleb(300)) == 0x712cU);
  CHECK_FALSE(run(Bytes().u8(dw::OP_breg0 + 3U).sleb(0)).has_value());  // rbx is not known
  CHECK_FALSE(run(Bytes{dw::OP_bregx}.uleb(100000).sleb(0)).has_value());
}

TEST_CASE("expression: shuffling the stack") {
  const Machine run(kX86_64);
  const auto after_123 = [&](const Bytes& rest) {
    return run(Bytes{dw::OP_lit0 + 1, dw::OP_lit0 + 2, dw::OP_lit0 + 3}.append(rest));
  };
  CHECK(after_123({dw::OP_dup, dw::OP_plus}) == 6U);
  CHECK(after_123({dw::OP_drop}) == 2U);
  CHECK(after_123({dw::OP_over}) == 2U);
  CHECK(after_123({dw::OP_pick, 0}) == 3U);
  CHECK(after_123({dw::OP_pick, 2}) == 1U);
  CHECK(after_123({dw::OP_swap}) == 2U);
  CHECK(after_123({dw::OP_swap, dw::OP_drop}) == 3U);
  // The top becomes third, the second becomes top, the third becomes second.
  CHECK(after_123({dw::OP_rot}) == 2U);
  CHECK(after_123({dw::OP_rot, dw::OP_drop}) == 1U);
  CHECK(after_123({dw::OP_rot, dw::OP_drop, dw::OP_drop}) == 3U);
  CHECK(run({dw::OP_nop, dw::OP_lit0 + 4, dw::OP_nop}) == 4U);
}

TEST_CASE("expression: arithmetic wraps and signs are kept") {
  const Machine run(kX86_64);
  CHECK(binary(run, 7, 5, dw::OP_plus) == 12U);
  CHECK(binary(run, 5, 7, dw::OP_minus) == bits(-2));
  CHECK(binary(run, -3, 7, dw::OP_mul) == bits(-21));
  CHECK(binary(run, -21, 4, dw::OP_div) == bits(-5));
  CHECK(binary(run, kLowest, -1, dw::OP_div) == bits(kLowest));  // overflows in C
  CHECK(binary(run, 23, 5, dw::OP_mod) == 3U);
  CHECK(binary(run, 0xc, 0xa, dw::OP_and) == 0x8U);
  CHECK(binary(run, 0xc, 0xa, dw::OP_or) == 0xeU);
  CHECK(binary(run, 0xc, 0xa, dw::OP_xor) == 0x6U);
  CHECK(run(Bytes{dw::OP_lit0 + 3, dw::OP_plus_uconst}.uleb(200)) == 203U);
  CHECK(run({dw::OP_lit0 + 3, dw::OP_neg}) == bits(-3));
  CHECK(run({dw::OP_lit0, dw::OP_not}) == ~std::uint64_t{0});
  CHECK(run({dw::OP_const1s, 0xfd, dw::OP_abs}) == 3U);
  CHECK(run({dw::OP_lit0 + 3, dw::OP_abs}) == 3U);
}

TEST_CASE("expression: shifts, also by more than there are bits") {
  const Machine run(kX86_64);
  CHECK(binary(run, 1, 63, dw::OP_shl) == std::uint64_t{1} << 63U);
  CHECK(binary(run, 1, 64, dw::OP_shl) == 0U);
  CHECK(binary(run, -1, 60, dw::OP_shr) == 0xfU);
  CHECK(binary(run, -1, 64, dw::OP_shr) == 0U);
  CHECK(binary(run, -16, 2, dw::OP_shra) == bits(-4));
  CHECK(binary(run, -16, 1000, dw::OP_shra) == bits(-1));
  CHECK(binary(run, 16, -1, dw::OP_shra) == 0U);
}

TEST_CASE("expression: comparisons are signed") {
  const Machine run(kX86_64);
  struct Row {
    unsigned op;
    std::uint64_t less, same, more;  // of (-1, 1), (1, 1), (1, -1)
  };
  for (const Row& row :
       {Row{dw::OP_eq, 0, 1, 0}, Row{dw::OP_ne, 1, 0, 1}, Row{dw::OP_lt, 1, 0, 0},
        Row{dw::OP_le, 1, 1, 0}, Row{dw::OP_gt, 0, 0, 1}, Row{dw::OP_ge, 0, 1, 1}}) {
    CAPTURE(row.op);
    CHECK(binary(run, -1, 1, row.op) == row.less);
    CHECK(binary(run, 1, 1, row.op) == row.same);
    CHECK(binary(run, 1, -1, row.op) == row.more);
  }
}

TEST_CASE("expression: memory") {
  const Machine run(kX86_64);
  const auto rsp = [](const Bytes& rest) {
    return Bytes().u8(dw::OP_breg0 + 7U).u8(0).append(rest);
  };
  CHECK(run(rsp({dw::OP_deref})) == 0x0807060504030201U);
  CHECK(run(rsp({dw::OP_deref_size, 1})) == 1U);
  CHECK(run(rsp({dw::OP_deref_size, 2})) == 0x0201U);
  CHECK(run(rsp({dw::OP_deref_size, 4})) == 0x04030201U);
  CHECK_FALSE(run(rsp({dw::OP_deref_size, 3})).has_value());
  CHECK_FALSE(run(rsp({dw::OP_deref_size, 0})).has_value());
  CHECK_FALSE(run({dw::OP_lit0, dw::OP_deref}).has_value());
  // A pointer that is followed: *(*(rsp + 8)).
  CHECK(run(rsp({dw::OP_plus_uconst, 8, dw::OP_deref, dw::OP_deref})) == 0xfeU);
}

TEST_CASE("expression: branches") {
  const Machine run(kX86_64);
  const Bytes skip = Bytes{dw::OP_lit0 + 1, dw::OP_skip}.u16(1).append(
      Bytes{dw::OP_lit0 + 2, dw::OP_lit0 + 3, dw::OP_plus});
  CHECK(run(skip) == 4U);
  const auto branch = [&](unsigned condition) {
    return run(Bytes{dw::OP_lit0 + 9}
                   .u8(dw::OP_lit0 + condition)
                   .u8(dw::OP_bra)
                   .u16(1)
                   .append(Bytes{dw::OP_neg, dw::OP_nop}));
  };
  CHECK(branch(1) == 9U);
  CHECK(branch(0) == bits(-9));
  // A loop that counts down from 5, backwards by a negative distance.
  const Bytes loop =
      Bytes{dw::OP_lit0 + 5, dw::OP_lit0 + 1, dw::OP_minus, dw::OP_dup, dw::OP_bra}.u16(
          static_cast<std::uint16_t>(-6));
  CHECK(run(loop) == 0U);
  const Bytes to_the_end = Bytes{dw::OP_lit0 + 7, dw::OP_skip}.u16(1).u8(dw::OP_neg);
  CHECK(run(to_the_end) == 7U);
}

TEST_CASE("expression: the initial value lies on the stack first") {
  const Machine run(kX86_64);
  CHECK(run({dw::OP_lit0 + 8, dw::OP_minus}, 0x7010) == 0x7008U);
  CHECK(run({}, 0x7010) == 0x7010U);
  CHECK_FALSE(run({}).has_value());
}

TEST_CASE("expression: the PLT's rule of x86-64") {
  // CFA = rsp + 8 + ((rip & 15) >= 11) << 3, as the linker writes it.
  const Bytes rule{dw::OP_breg0 + 7, 8,          dw::OP_breg0 + 16, 0,
                   dw::OP_lit0 + 15, dw::OP_and, dw::OP_lit0 + 11,  dw::OP_ge,
                   dw::OP_lit0 + 3,  dw::OP_shl, dw::OP_plus};
  Machine run(kX86_64);
  run.registers.set(16, 0x401026);
  CHECK(run(rule) == 0x7008U);
  run.registers.set(16, 0x40102b);
  CHECK(run(rule) == 0x7010U);
}

TEST_CASE("expression: i386 computes in 32 bits") {
  const Machine run(kI386);
  CHECK(run({dw::OP_const1s, 0xff}) == 0xffffffffU);
  CHECK(run({dw::OP_const1s, 0xff, dw::OP_lit0 + 2, dw::OP_plus}) == 1U);
  CHECK(binary(run, -16, 2, dw::OP_shra) == 0xfffffffcU);
  CHECK(binary(run, -1, 1, dw::OP_lt) == 1U);
  CHECK(binary(run, -21, 4, dw::OP_div) == 0xfffffffbU);
  CHECK(run(Bytes().u8(dw::OP_breg0 + 4U).u8(0).u8(dw::OP_deref)) == 0x04030201U);
  CHECK(run(Bytes{dw::OP_addr}.u32(0x8049000)) == 0x8049000U);
}

}  // namespace
}  // namespace whocall::test
