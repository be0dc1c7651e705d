// Code of two modes in one piece, told apart by its bytes.
#include "arch/arm/modes.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "arch/arm/code.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x10000;

// push {r4,lr}; mov r4,r0; ldr r3,[r0,#4]; blx r3; adds r0,r4,#1; cmp r0,#9; bne; pop {r4,pc}
void add_t32(Bytes& code) {
  for (const unsigned half :
       {0xb510U, 0x4604U, 0x6843U, 0x4798U, 0x1c60U, 0x2809U, 0xd1fbU, 0xbd10U}) {
    code.u16(half);
  }
}
// push {r4,lr}; mov r4,r0; ldr r3,[r0,#4]; ldr r2,[pc,#8]; blx r3; add r0,r4,#1; pop {r4,pc}
// and a constant
void add_a32(Bytes& code) {
  for (const unsigned word : {0xe92d4010U, 0xe1a04000U, 0xe5903004U, 0xe59f2008U, 0xe12fff33U,
                              0xe2840001U, 0xe8bd8010U, 0x00021030U}) {
    code.u32(word);
  }
}

TEST_CASE("arm modes: functions of either mode beside each other") {
  Bytes code;
  add_t32(code);
  add_t32(code);
  add_a32(code);
  add_a32(code);
  add_t32(code);
  const arm::Modes modes(code.view(), kAt);
  for (Address at = kAt; at < kAt + code.view().size(); at += 4) {
    CAPTURE(at - kAt);
    const bool constant = at == kAt + 60 || at == kAt + 92;  // of either mode
    CHECK((constant || modes.is_thumb(at) == (at < kAt + 32 || at >= kAt + 96)));
  }
}

// Of a loop that fills memory: strbcs r1,[r3],#1 and subscs r2,r2,#1 by turns, and a jump back.
TEST_CASE("arm modes: code where most instructions have a condition") {
  Bytes code;
  add_t32(code);
  add_t32(code);
  for (const unsigned word : {0xe1a03000U, 0xe3520008U, 0x3a000003U, 0x28a31002U, 0x22522008U,
                              0x28a31002U, 0x2afffff6U, 0xe2522001U, 0x24c31001U, 0x22522001U,
                              0x24c31001U, 0x22522001U, 0x24c31001U, 0x2afffff6U, 0xe12fff1eU}) {
    code.u32(word);
  }
  code.u32(0);
  add_t32(code);
  add_t32(code);
  const arm::Modes modes(code.view(), kAt);
  for (Address at = kAt; at < kAt + code.view().size(); at += 4) {
    CAPTURE(at - kAt);
    const bool filler = at == kAt + 32 + 60;
    CHECK((filler || modes.is_thumb(at) == (at < kAt + 32 || at >= kAt + 96)));
  }
}

TEST_CASE("arm modes: what is asked for is read with what stands around it") {
  Bytes code;
  for (int i = 0; i < 300; ++i) {
    add_t32(code);
  }
  for (int i = 0; i < 300; ++i) {
    add_a32(code);
  }
  const auto bytes = code.view().bytes();
  arm::ModesAround modes([&](Address address, std::span<std::byte> out) -> std::size_t {
    if (address < kAt || address - kAt >= bytes.size()) {
      return 0;
    }
    const auto rest = bytes.subspan(address - kAt);
    const std::size_t size = std::min(rest.size(), out.size());
    std::ranges::copy(rest.first(size), out.begin());
    return size;
  });
  CHECK(modes.is_thumb(kAt));
  CHECK(modes.is_thumb(kAt + 300 * 16 - 4));
  CHECK_FALSE(modes.is_thumb(kAt + 300 * 16));
  CHECK_FALSE(modes.is_thumb(kAt + bytes.size() - 4));
}

TEST_CASE("arm modes: functions begin behind the constants of the one before") {
  Bytes code;
  add_a32(code);
  add_a32(code);
  add_t32(code);
  add_t32(code);
  StartMarks marks;
  arm::append_start_marks(code.view(), kAt, marks);
  CHECK(marks.prologues == std::vector<Address>{kAt, kAt + 32, kAt + 64, kAt + 80});
  CHECK(marks.call_targets.empty());
}

TEST_CASE("arm modes: behind a call that never comes back begins what saves the link register") {
  Bytes code;
  add_t32(code);
  for (const unsigned half : {0xb508U, 0xf7ffU, 0xfff5U, 0xb510U, 0x4604U, 0xbd10U}) {
    code.u16(half);  // push {r3,lr}; bl; push {r4,lr}; mov r4,r0; pop {r4,pc}
  }
  StartMarks marks;
  arm::append_start_marks(code.view(), kAt, marks);
  CHECK(marks.prologues == std::vector<Address>{kAt, kAt + 16, kAt + 22});
}

TEST_CASE("arm modes: who has the link register back and jumps over a function calls another") {
  constexpr unsigned kLink = 0x4000;  // of the list of registers
  constexpr unsigned kCall = 0xfff7;
  const auto called = [](unsigned popped, unsigned call) {
    Bytes code;
    add_t32(code);
    for (const unsigned half :
         {0xb510U, 0xe8bdU, 0x0010U | popped, 0xf000U, 0xb805U, 0xbf00U,  // push; pop.w; b.w +20
          0xb510U, 0x4604U, 0xbd10U, 0xbf00U,  // +12: push {r4,lr}; mov r4,r0; pop {r4,pc}
          0x2001U, 0x4770U,                    // +20: movs r0,#1; bx lr
          0xb510U, 0xf7ffU, call, 0xbd10U}) {  // push {r4,lr}; bl +12; pop {r4,pc}
      code.u16(half);
    }
    StartMarks marks;
    arm::append_start_marks(code.view(), kAt, marks);
    return marks.call_targets;
  };
  CHECK(called(kLink, kCall) == std::vector<Address>{kAt + 28, kAt + 36});
  CHECK(called(0, kCall) == std::vector<Address>{kAt + 28});       // still in its frame
  CHECK(called(kLink, 0xfffb) == std::vector<Address>{kAt + 36});  // a call of the target itself
}

}  // namespace
}  // namespace whocall::test
