// Which bytes before a return address are a call: every form of operand, as the assembler wrote it.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kReturn = 0x401080;

struct Form {
  const char* text;
  Bytes code;
  unsigned size;  // without prefixes, which belong to nobody's decision
};

// What stands before the call must not matter, and the bytes given are as many as fit.
std::optional<CallSite> before(const Architecture& arch, const Bytes& code, unsigned filler) {
  Bytes all;
  all.fill(arch.code.longest_call - std::min<std::size_t>(code.size(), arch.code.longest_call),
           static_cast<std::uint8_t>(filler));
  all.append(code);
  const ByteView view = all.view().from(all.size() - arch.code.longest_call);
  return arch.code.call_before(view, kReturn);
}

const std::vector<Form> kIndirect64 = {
    {"call *%rax", {0xff, 0xd0}, 2},
    {"call *%rsp", {0xff, 0xd4}, 2},
    {"call *%r11", {0x41, 0xff, 0xd3}, 2},
    {"call *(%rax)", {0xff, 0x10}, 2},
    {"call *(%r11)", {0x41, 0xff, 0x13}, 2},
    {"call *(%rsp)", {0xff, 0x14, 0x24}, 3},
    {"call *0(%rbp)", {0xff, 0x55, 0x00}, 3},
    {"call *(%r12)", {0x41, 0xff, 0x14, 0x24}, 3},
    {"call *0(%r13)", {0x41, 0xff, 0x55, 0x00}, 3},
    {"call *8(%rax)", {0xff, 0x50, 0x08}, 3},
    {"call *-8(%rsp)", {0xff, 0x54, 0x24, 0xf8}, 4},
    {"call *0x28(%r15)", {0x41, 0xff, 0x57, 0x28}, 3},
    {"call *0x12345678(%rax)", {0xff, 0x90, 0x78, 0x56, 0x34, 0x12}, 6},
    {"call *0x12345678(%rsp)", {0xff, 0x94, 0x24, 0x78, 0x56, 0x34, 0x12}, 7},
    {"call *0x12345678(%r12)", {0x41, 0xff, 0x94, 0x24, 0x78, 0x56, 0x34, 0x12}, 7},
    {"call *0x2fe2(%rip)", {0xff, 0x15, 0xe2, 0x2f, 0x00, 0x00}, 6},
    {"call *0x601018", {0xff, 0x14, 0x25, 0x18, 0x10, 0x60, 0x00}, 7},
    {"call *(%rax,%rbx,8)", {0xff, 0x14, 0xd8}, 3},
    {"call *(%r12,%r13,4)", {0x43, 0xff, 0x14, 0xac}, 3},
    {"call *0x10(%rax,%rbx,8)", {0xff, 0x54, 0xd8, 0x10}, 4},
    {"call *0x1000(%rax,%rbx,8)", {0xff, 0x94, 0xd8, 0x00, 0x10, 0x00, 0x00}, 7},
    {"call *0x1000(,%rax,8)", {0xff, 0x14, 0xc5, 0x00, 0x10, 0x00, 0x00}, 7},
    {"call *%fs:0x10", {0x64, 0xff, 0x14, 0x25, 0x10, 0x00, 0x00, 0x00}, 7},
    {"notrack call *%rax", {0x3e, 0xff, 0xd0}, 2},
};

const std::vector<Form> kIndirect32 = {
    {"call *%eax", {0xff, 0xd0}, 2},
    {"call *%esp", {0xff, 0xd4}, 2},
    {"call *(%eax)", {0xff, 0x10}, 2},
    {"call *(%esp)", {0xff, 0x14, 0x24}, 3},
    {"call *0(%ebp)", {0xff, 0x55, 0x00}, 3},
    {"call *8(%ebx)", {0xff, 0x53, 0x08}, 3},
    {"call *8(%esp)", {0xff, 0x54, 0x24, 0x08}, 4},
    {"call *0x12345678(%ebx)", {0xff, 0x93, 0x78, 0x56, 0x34, 0x12}, 6},
    {"call *0x12345678(%esp)", {0xff, 0x94, 0x24, 0x78, 0x56, 0x34, 0x12}, 7},
    {"call *0x804c010", {0xff, 0x15, 0x10, 0xc0, 0x04, 0x08}, 6},
    {"call *(%eax,%ebx,4)", {0xff, 0x14, 0x98}, 3},
    {"call *0x804c000(,%eax,4)", {0xff, 0x14, 0x85, 0x00, 0xc0, 0x04, 0x08}, 7},
    {"call *0x40(%eax,%ebx,4)", {0xff, 0x54, 0x98, 0x40}, 4},
    {"call *%gs:0x10", {0x65, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00}, 6},
};

void check_indirect(const Architecture& arch, const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    for (const unsigned filler : {0x00, 0x90, 0xcc, 0xff}) {
      CAPTURE(form.text);
      CAPTURE(filler);
      const auto call = before(arch, form.code, filler);
      REQUIRE(call.has_value());
      CHECK(call->indirect);
      CHECK(call->size == form.size);
      CHECK_FALSE(call->target.has_value());
    }
  }
}

TEST_CASE("call before: every operand of an indirect call, x86-64") {
  check_indirect(kX86_64, kIndirect64);
}

TEST_CASE("call before: every operand of an indirect call, i386") {
  check_indirect(kI386, kIndirect32);
}

TEST_CASE("call before: direct calls forwards and backwards, with prefixes") {
  // `call .+0x1005` goes 0x1000 bytes behind the return address.
  const auto forwards = before(kX86_64, {0xe8, 0x00, 0x10, 0x00, 0x00}, 0x90);
  REQUIRE(forwards.has_value());
  CHECK_FALSE(forwards->indirect);
  CHECK(forwards->size == 5);
  CHECK(forwards->target == kReturn + 0x1000);
  const auto backwards = before(kX86_64, {0xe8, 0xfb, 0xef, 0xff, 0xff}, 0x90);
  REQUIRE(backwards.has_value());
  CHECK(backwards->target == kReturn - 0x1005);
  CHECK(before(kX86_64, {0xf2, 0xe8, 0x00, 0x01, 0x00, 0x00}, 0)->target == kReturn + 0x100);
  // The padded call of __tls_get_addr.
  CHECK(before(kX86_64, {0x66, 0x48, 0xe8, 0x01, 0x01, 0x00, 0x00}, 0)->target == kReturn + 0x101);
  CHECK(before(kI386, {0xe8, 0x00, 0x10, 0x00, 0x00}, 0x90)->target == kReturn + 0x1000);
}

TEST_CASE("call before: the target wraps at the end of the address space") {
  const Bytes call{0xe8, 0x00, 0x00, 0x00, 0x10};
  CHECK(kI386.code.call_before(call.view(), 0xf8000000)->target == 0x08000000U);
  const Bytes back{0xe8, 0x00, 0xff, 0xff, 0xff};
  CHECK(kX86_64.code.call_before(back.view(), 0x80)->target == Address{0} - 0x80);
}

TEST_CASE("call before: an instruction that names its slot tells where the slot is") {
  CHECK(before(kX86_64, {0xff, 0x15, 0xe2, 0x2f, 0x00, 0x00}, 0)->slot == kReturn + 0x2fe2);
  CHECK(before(kX86_64, {0xff, 0x15, 0xf0, 0xff, 0xff, 0xff}, 0)->slot == kReturn - 0x10);
  CHECK(before(kI386, {0xff, 0x15, 0x10, 0xc0, 0x04, 0x08}, 0)->slot == 0x804c010U);
  // A segment's base is not known, so %gs:0x10 is no slot.
  CHECK_FALSE(before(kI386, {0x65, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00}, 0)->slot.has_value());
  CHECK_FALSE(before(kX86_64, {0xff, 0xd0}, 0x15)->slot.has_value());
}

TEST_CASE("call before: what looks similar is no call") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    for (const unsigned filler : {0x00, 0x90, 0xcc}) {
      CAPTURE(filler);
      CHECK_FALSE(before(*arch, {}, filler).has_value());
      CHECK_FALSE(before(*arch, {0xff, 0xe0}, filler).has_value());        // jmp *%rax
      CHECK_FALSE(before(*arch, {0xff, 0x18}, filler).has_value());        // lcall *(%rax)
      CHECK_FALSE(before(*arch, {0xff, 0x70, 0x10}, filler).has_value());  // push 0x10(%rax)
      CHECK_FALSE(before(*arch, {0xff, 0x50}, filler).has_value());        // displacement missing
      CHECK_FALSE(before(*arch, {0xff, 0x14}, filler).has_value());        // SIB byte missing
      CHECK_FALSE(before(*arch, {0xe9, 0, 0x10, 0, 0}, filler).has_value());  // jmp
    }
  }
}

TEST_CASE("call before: at the start of a mapping there are fewer bytes") {
  CHECK_FALSE(kX86_64.code.call_before(ByteView(), kReturn).has_value());
  CHECK_FALSE(kX86_64.code.call_before(Bytes{0xd0}.view(), kReturn).has_value());
  CHECK(kX86_64.code.call_before(Bytes{0xff, 0xd0}.view(), kReturn).has_value());
  CHECK(kX86_64.code.call_before(Bytes{0xe8, 0, 0, 0, 0}.view(), kReturn).has_value());
  CHECK_FALSE(kX86_64.code.call_before(Bytes{0, 0, 0, 0}.view(), kReturn).has_value());
}

TEST_CASE("call before: an indirect call is believed over a direct one that goes gigabytes away") {
  // movabs ending in ...e8 cc cc, then `call *%rax`: the last five bytes begin with e8.
  const auto call = before(kX86_64, {0xe8, 0xcc, 0xcc, 0xff, 0xd0}, 0x90);
  REQUIRE(call.has_value());
  CHECK(call->indirect);
  CHECK(call->size == 2);
  // With nothing else there, the far call is the only reading.
  const auto far = before(kX86_64, {0xe8, 0x00, 0x00, 0x00, 0x60}, 0x90);
  REQUIRE(far.has_value());
  CHECK(far->target == kReturn + 0x60000000);
}

}  // namespace
}  // namespace whocall::test
