// The way back out of a function, as a computation over registers: of code that changes stacks.
#include <doctest/doctest.h>

#include "arch/aarch64/facts.h"
#include "arch/return_path.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

using Kind = PathStep::Kind;

constexpr Address kAt = 0x401000;
constexpr Register kGoroutine = 28;

Bytes words(std::initializer_list<std::uint32_t> code) {
  Bytes bytes;
  for (const std::uint32_t word : code) {
    bytes.u32(word);
  }
  return bytes;
}

// What runtime.systemstack of Go does behind its call.
const std::initializer_list<std::uint32_t> kSystemStack = {
    0xf9401b83,  // ldr x3, [x28, #48]
    0xf940607c,  // ldr x28, [x3, #192]
    0x94000400,  // bl save_g
    0xf9401f80,  // ldr x0, [x28, #56]
    0x9100001f,  // mov sp, x0
    0xa97ffbfd,  // ldp x29, x30, [sp, #-8]
    0x910043ff,  // add sp, sp, #16
    0xd65f03c0,  // ret
};

TEST_CASE("return path: AArch64, back to a stack whose pointer was saved") {
  const Bytes code = words(kSystemStack);
  const auto path = kAArch64.code.return_path(code.view(), kAt, 0);
  REQUIRE(path);
  const PathValue found = {{Kind::base, kGoroutine, 48}, {Kind::deref},
                           {Kind::plus, 0, 192},         {Kind::deref},
                           {Kind::plus, 0, 56},          {Kind::deref}};
  PathValue sp = found;
  sp.push_back({Kind::plus, 0, 16});
  PathValue link = found;
  link.push_back({Kind::deref});
  CHECK(path->sp == sp);
  CHECK(path->link == link);
  CHECK(path->goroutine == PathValue(found.begin(), found.begin() + 4));
  CHECK(end_of_last_load(path->sp) == found.size());
  CHECK(path->outer.empty());
}

TEST_CASE("return path: AArch64, what is not followed is a miss") {
  const Bytes code = words(kSystemStack);
  CHECK_FALSE(kAArch64.code.return_path(code.view(), kAt, 2));   // inside an instruction
  CHECK_FALSE(kAArch64.code.return_path(code.view(), kAt, 32));  // behind the end
  CHECK_FALSE(kAArch64.code.return_path(words({0xd61f0060}).view(), kAt, 0));  // br x3
  CHECK_FALSE(kAArch64.code.return_path(words({0x14000000}).view(), kAt, 0));  // b .
  CHECK_FALSE(kAArch64.code.return_path(words({0xb4000000}).view(), kAt, 0));  // cbz x0, .
}

TEST_CASE("return path: AArch64, a depth that was kept instead of the stack pointer") {
  const auto path = kAArch64.code.return_path(words({0xf9400be6,  // ldr x6, [sp, #16]
                                                     0xcb0600a5,  // sub x5, x5, x6
                                                     0x910000bf,  // mov sp, x5
                                                     0xd65f03c0})
                                                  .view(),
                                              kAt, 0);
  REQUIRE(path);
  CHECK(path->sp ==
        PathValue{{Kind::base, 5, 0}, {Kind::base, 31, 16}, {Kind::deref}, {Kind::minus}});
}

// As runtime.cgocallback of Go: where the stack pointer was found, that of the caller's caller is
// put back.
TEST_CASE("return path: what is put back where the stack pointer was") {
  const auto linked = kAArch64.code.return_path(words({0xf9401f80,  // ldr x0, [x28, #56]
                                                       0x9100001f,  // mov sp, x0
                                                       0xf9400be4,  // ldr x4, [sp, #16]
                                                       0xf9001f84,  // str x4, [x28, #56]
                                                       0xd65f03c0})
                                                    .view(),
                                                kAt, 0);
  REQUIRE(linked);
  CHECK(linked->outer == PathValue{{Kind::plus, 0, 16}, {Kind::deref}});
  const auto pushed =
      kX86_64.code.return_path(Bytes({0x48, 0x8b, 0x67, 0x38,  // mov rsp, [rdi + 0x38]
                                      0x8f, 0x47, 0x38, 0xc3})
                                   .view(),  // pop [rdi + 0x38]; ret
                               kAt, 0);
  REQUIRE(pushed);
  CHECK(pushed->outer == PathValue{{Kind::deref}});
}

}  // namespace
}  // namespace whocall::test
