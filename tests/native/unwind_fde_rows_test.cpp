// Call frame instructions to rows: literal programs.
#include <doctest/doctest.h>

#include "unwind_cfi_text.h"

namespace whocall::test {
namespace {

TEST_CASE("cfi program: the CIE alone gives one row over the whole function") {
  CHECK(compiled(usual_cie(), {}) == "0x1000 rsp+8 rip=c-8 | 0x1100");
  CHECK(compiled(usual_cie(), {dw::CFA_nop, dw::CFA_nop}) == "0x1000 rsp+8 rip=c-8 | 0x1100");
}

TEST_CASE("cfi program: push %rbp; mov %rsp,%rbp; ...; leave; ret") {
  const Bytes program{dw::CFA_advance_loc | 1U,
                      dw::CFA_def_cfa_offset,
                      16,
                      dw::CFA_offset | 6U,
                      2,
                      dw::CFA_advance_loc | 3U,
                      dw::CFA_def_cfa_register,
                      6,
                      dw::CFA_advance_loc1,
                      0xf0,
                      dw::CFA_def_cfa,
                      7,
                      8,
                      dw::CFA_restore | 6U};
  CHECK(compiled(usual_cie(), program) ==
        "0x1000 rsp+8 rip=c-8 | 0x1001 rsp+16 rbp=c-16 rip=c-8 | 0x1004 rbp+16 rbp=c-16 rip=c-8 | "
        "0x10f4 rsp+8 rip=c-8 | 0x1100");
}

TEST_CASE("cfi program: every width of advance_loc, scaled by the code alignment") {
  const Bytes program = Bytes{dw::CFA_advance_loc | 2U, dw::CFA_def_cfa_offset, 16}
                            .u8(dw::CFA_advance_loc1)
                            .u8(3)
                            .u8(dw::CFA_def_cfa_offset)
                            .u8(24)
                            .u8(dw::CFA_advance_loc2)
                            .u16(0x10)
                            .u8(dw::CFA_def_cfa_offset)
                            .u8(32)
                            .u8(dw::CFA_advance_loc4)
                            .u32(0x10)
                            .u8(dw::CFA_def_cfa_offset)
                            .u8(40);
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, program) ==
        "0x1000 rsp+8 | 0x1002 rsp+16 | 0x1005 rsp+24 | 0x1015 rsp+32 | 0x1025 rsp+40 | 0x1100");
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, program, {4, -8}) ==
        "0x1000 rsp+8 | 0x1008 rsp+16 | 0x1014 rsp+24 | 0x1054 rsp+32 | 0x1094 rsp+40 | 0x1100");
  const Bytes eight =
      Bytes{dw::CFA_MIPS_advance_loc8}.u64(0x80).append(Bytes{dw::CFA_def_cfa_offset, 16});
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, eight) == "0x1000 rsp+8 | 0x1080 rsp+16 | 0x1100");
}

TEST_CASE("cfi program: set_loc moves forwards to an absolute address") {
  const Bytes program =
      Bytes{dw::CFA_set_loc}.u64(0x1040).append(Bytes{dw::CFA_def_cfa_offset, 16});
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, program) == "0x1000 rsp+8 | 0x1040 rsp+16 | 0x1100");
  const Bytes back = Bytes{dw::CFA_set_loc}.u64(0x400).append(Bytes{dw::CFA_def_cfa_offset, 16});
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, back) == "0x1000 rsp+16 | 0x1100");
}

TEST_CASE("cfi program: advancing by nothing makes no row, advancing beyond the end is cut") {
  CHECK(compiled(usual_cie(), {dw::CFA_advance_loc, dw::CFA_def_cfa_offset, 16}) ==
        "0x1000 rsp+16 rip=c-8 | 0x1100");
  CHECK(compiled(usual_cie(), Bytes{dw::CFA_advance_loc2}.u16(0x200).append(Bytes{
                                  dw::CFA_def_cfa_offset, 16})) == "0x1000 rsp+8 rip=c-8 | 0x1100");
  CHECK(compiled(usual_cie(), Bytes{dw::CFA_MIPS_advance_loc8}.u64(~std::uint64_t{0})) ==
        "0x1000 rsp+8 rip=c-8 | 0x1100");  // wraps around
}

TEST_CASE("cfi program: an empty function has no rows") {
  CHECK(compiled(usual_cie(), {dw::CFA_advance_loc | 4U}, {}, {0x1000, 0x1000}) == "0x1000");
}

TEST_CASE("cfi program: signed and factored CFA offsets") {
  CHECK(compiled({}, Bytes{dw::CFA_def_cfa_sf, 7}.sleb(-2)) == "0x1000 rsp+16 | 0x1100");
  CHECK(compiled({dw::CFA_def_cfa, 6, 8}, Bytes{dw::CFA_def_cfa_offset_sf}.sleb(-3)) ==
        "0x1000 rbp+24 | 0x1100");
  CHECK(compiled({}, Bytes{dw::CFA_def_cfa, 7}.uleb(100000)) == "0x1000 rsp+100000 | 0x1100");
}

TEST_CASE("cfi program: every way to say where a register is") {
  CHECK(compiled({}, {dw::CFA_def_cfa,
                      7,
                      8,
                      dw::CFA_offset | 3U,
                      2,
                      dw::CFA_offset_extended,
                      12,
                      3,
                      dw::CFA_offset_extended_sf,
                      13,
                      0x7c,  // -4 * -8
                      dw::CFA_val_offset,
                      14,
                      5,
                      dw::CFA_val_offset_sf,
                      15,
                      0x7f,  // -1 * -8
                      dw::CFA_undefined,
                      0,
                      dw::CFA_same_value,
                      1,
                      dw::CFA_register,
                      2,
                      5,
                      dw::CFA_GNU_negative_offset_extended,
                      6,
                      2}) ==
        "0x1000 rsp+8 rax=u rdx=s rcx=rdi rbx=c-16 rbp=c+16 r12=c-24 r13=c+32 r14=v-40 r15=v+8 | "
        "0x1100");
}

TEST_CASE("cfi program: expressions for the CFA and for registers") {
  const Bytes program{dw::CFA_def_cfa_expression,
                      2,
                      dw::OP_breg0 + 7,
                      8,
                      dw::CFA_expression,
                      3,
                      1,
                      dw::OP_lit0,
                      dw::CFA_val_expression,
                      6,
                      1,
                      dw::OP_lit0,
                      dw::CFA_advance_loc | 4U,
                      dw::CFA_def_cfa,
                      7,
                      16};
  CHECK(compiled({}, program) ==
        "0x1000 exp rbx=exp rbp=vexp | 0x1004 rsp+16 rbx=exp rbp=vexp | 0x1100");
}

TEST_CASE("cfi program: remember and restore nest, and hold the CFA as well") {
  const Bytes program{dw::CFA_def_cfa_offset,
                      16,
                      dw::CFA_offset | 3U,
                      2,
                      dw::CFA_remember_state,
                      dw::CFA_advance_loc | 1U,
                      dw::CFA_def_cfa_offset,
                      24,
                      dw::CFA_remember_state,
                      dw::CFA_advance_loc | 1U,
                      dw::CFA_def_cfa,
                      6,
                      8,
                      dw::CFA_restore | 3U,
                      dw::CFA_advance_loc | 1U,
                      dw::CFA_restore_state,
                      dw::CFA_advance_loc | 1U,
                      dw::CFA_restore_state};
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, program) ==
        "0x1000 rsp+16 rbx=c-16 | 0x1001 rsp+24 rbx=c-16 | 0x1002 rbp+8 | "
        "0x1003 rsp+24 rbx=c-16 | 0x1004 rsp+16 rbx=c-16 | 0x1100");
}

TEST_CASE("cfi program: restore goes back to the CIE's rule, or to none") {
  const Bytes cie{dw::CFA_def_cfa, 7, 8, dw::CFA_offset | 3U, 4};
  const Bytes program{dw::CFA_offset | 3U,      2,
                      dw::CFA_offset | 6U,      3,
                      dw::CFA_advance_loc | 1U, dw::CFA_restore | 3U,
                      dw::CFA_restore_extended, 6};
  CHECK(compiled(cie, program) ==
        "0x1000 rsp+8 rbx=c-16 rbp=c-24 | 0x1001 rsp+8 rbx=c-32 | 0x1100");
}

TEST_CASE("cfi program: GNU_args_size and window_save change nothing") {
  const Bytes program = Bytes{dw::CFA_GNU_args_size}.uleb(300).append(
      Bytes{dw::CFA_GNU_window_save, dw::CFA_advance_loc | 1U, dw::CFA_def_cfa_offset, 16});
  CHECK(compiled({dw::CFA_def_cfa, 7, 8}, program) == "0x1000 rsp+8 | 0x1001 rsp+16 | 0x1100");
}

TEST_CASE("cfi program: rules for vector registers do not disturb the others") {
  const Bytes program = Bytes{dw::CFA_offset | 3U, 2, dw::CFA_offset_extended}.uleb(300).uleb(9);
  CHECK(compiled(usual_cie(), program) == "0x1000 rsp+8 rbx=c-16 rip=c-8 72=c-72 | 0x1100");
}

}  // namespace
}  // namespace whocall::test
