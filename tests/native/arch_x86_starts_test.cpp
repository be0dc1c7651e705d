// Where x86 code shows that functions begin: rows of jumps, and padding that is none's beginning.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kText = 0x401000;
constexpr std::uint32_t kRow = 0x33;  // where a row of jumps begins, behind what ends at it
constexpr std::uint32_t kFunction = 0x100;

StartMarks marks_of(const Architecture& arch, const Bytes& code) {
  StartMarks marks;
  arch.code.append_start_marks(code.view(), kText, marks);
  return marks;
}

bool begins(const std::vector<Address>& starts, Address offset) {
  return std::ranges::find(starts, kText + offset) != starts.end();
}

// ret, unless the flow goes on, and so many jumps behind each other, to functions of 16 bytes each.
Bytes row_of_jumps(std::uint32_t jumps, std::uint8_t last_before, std::uint32_t functions) {
  Bytes code;
  code.fill(kRow - 1, 0x50).u8(last_before);
  for (std::uint32_t i = 0; i < jumps; ++i) {
    const auto next = static_cast<std::uint32_t>(code.size()) + 5;
    code.u8(0xe9).u32(functions + 16 * i - next);
  }
  code.fill(kFunction - code.size(), 0x50);
  for (std::uint32_t i = 0; i <= jumps; ++i) {
    code.append(Bytes{0x31, 0xc0, 0xc3}).fill(13, 0xcc);
  }
  return code;
}

TEST_CASE("x86 starts: each jump of a long row is a function") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    const auto found = marks_of(*arch, row_of_jumps(8, 0xc3, kFunction + 16)).prologues;
    for (std::uint32_t i = 0; i < 8; ++i) {
      CHECK(begins(found, kRow + 5 * i));
    }
    CHECK_FALSE(begins(found, kRow + 5 * 8));
    // What goes on into the first jump ends with it.
    const auto behind = marks_of(*arch, row_of_jumps(8, 0x50, kFunction + 16)).prologues;
    CHECK_FALSE(begins(behind, kRow));
    CHECK(begins(behind, kRow + 5));
  }
}

TEST_CASE("x86 starts: a few jumps, or jumps into the middle of code, are no row") {
  CHECK(marks_of(kX86_64, row_of_jumps(7, 0xc3, kFunction + 16)).prologues.empty());
  CHECK(marks_of(kX86_64, row_of_jumps(8, 0xc3, kFunction + 17)).prologues.empty());
}

// jmp to `target`; padding; at 0x20 mov (%rsp),%rax, or what is given, and ret; padding.
Bytes padded(std::uint32_t target, const Bytes& begin = {0x48, 0x8b, 0x04, 0x24}) {
  return Bytes{0xe9}
      .u32(target - 5)
      .u8(0xc3)
      .fill(0x10 - 6, 0xcc)
      .append(Bytes{0x31, 0xc0, 0xc3, 0x0f, 0x1f, 0x80, 0, 0, 0, 0})
      .append(Bytes{0x66, 0x0f, 0x1f, 0x44, 0, 0})
      .append(begin)
      .u8(0xc3)
      .fill(0x1b, 0xcc);
}

TEST_CASE("x86 starts: what jumps into padding goes to what stands behind it") {
  CHECK(begins(marks_of(kX86_64, padded(0x10)).aligned, 0x20));
  CHECK(begins(marks_of(kX86_64, padded(0x1c)).aligned, 0x20));  // no instruction begins there
  CHECK_FALSE(begins(marks_of(kX86_64, padded(0x20)).aligned, 0x20));
  CHECK_FALSE(begins(marks_of(kX86_64, padded(0x1a)).aligned, 0x20));
  CHECK_FALSE(begins(marks_of(kX86_64, padded(0x13)).aligned, 0x20));
  // The middle of nopw, which would be a nopl.
  CHECK(begins(marks_of(kX86_64, padded(0x1b)).aligned, 0x20));
  // push %rbx: what looks like a jump to the padding before it is chance.
  CHECK(begins(marks_of(kX86_64, padded(0x1a, {0x53, 0x5b})).prologues, 0x20));
}

TEST_CASE("x86 starts: padding that goes on at an aligned address begins nothing") {
  // ret; data16 cs nopw 0(%rax,%rax,1) three times; xor %eax,%eax; ret
  const Bytes nop{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
  const Bytes code = Bytes()
                         .fill(0x14, 0x50)
                         .u8(0xc3)
                         .append(nop)
                         .append(nop)
                         .append(Bytes{0x0f, 0x1f, 0x44, 0, 0})
                         .append(Bytes{0x31, 0xc0, 0xc3})
                         .fill(0x1d, 0xcc);
  const auto found = marks_of(kX86_64, code).aligned;
  CHECK_FALSE(begins(found, 0x20));
  CHECK(begins(found, 0x30));
}

}  // namespace
}  // namespace whocall::test
