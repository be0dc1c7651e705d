// Calls and jumps of x86 that are not what they look like: those to what stands behind the own
// return address, and ends of the flow of instructions.
#include <doctest/doctest.h>

#include "arch/aarch64/facts.h"
#include "arch/split_stack.h"
#include "arch/x86/code.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x32_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

// mov 8(%rbp),%r10; inc %r10; mov -16(%rbp),%rax; call *%r10
const Bytes kGrows64{0x4c, 0x8b, 0x55, 0x08, 0x49, 0xff, 0xc2,
                     0x48, 0x8b, 0x45, 0xf0, 0x41, 0xff, 0xd2};
// add $2,%eax; inc %eax; mov %eax,-12(%ebp); mov -8(%ebp),%eax; call *-12(%ebp)
const Bytes kGrows32{0x83, 0xc0, 0x02, 0x40, 0x89, 0x45, 0xf4, 0x8b, 0x45, 0xf8, 0xff, 0x55, 0xf4};

TEST_CASE("odd calls: what stands behind the own return address") {
  CHECK(outer_return(kX86_64, kGrows64.view()) == 8);
  CHECK(outer_return(kI386, kGrows32.view()) == 12);
  CHECK_FALSE(outer_return(kI386, kGrows64.view()));
  CHECK_FALSE(outer_return(kX86_64, kGrows32.view()));
  CHECK_FALSE(outer_return(kAArch64, kGrows64.view()));
  CHECK_FALSE(outer_return(kX86_64, Bytes().view()));
  CHECK_FALSE(outer_return(kX86_64, Bytes{0x41, 0xff, 0xd2}.view()));
  // mov 8(%rbp),%r10; call *%r10
  CHECK_FALSE(outer_return(kX86_64, Bytes{0x4c, 0x8b, 0x55, 0x08, 0x41, 0xff, 0xd2}.view()));
}

TEST_CASE("odd calls: the flow ends at a jump that a register tells") {
  CHECK(x86::flow_ends(Bytes{0x55, 0xff, 0xe3}.view()));        // push %rbp; jmp *%rbx
  CHECK(x86::flow_ends(Bytes{0x41, 0xff, 0xe4}.view()));        // jmp *%r12
  CHECK_FALSE(x86::flow_ends(Bytes{0x41, 0xff, 0xd4}.view()));  // call *%r12
  CHECK_FALSE(x86::flow_ends(Bytes{0x48, 0xff, 0xc0}.view()));  // inc %rax
}

TEST_CASE("odd calls: where glibc keeps what setjmp kept") {
  REQUIRE(kX86_64.os.kept_jump);
  CHECK(kX86_64.os.kept_jump->size % 8 == 0);
  REQUIRE(kI386.os.kept_jump);
  CHECK(kI386.os.kept_jump->size % 4 == 0);
  CHECK_FALSE(kX32.os.kept_jump);
}

}  // namespace
}  // namespace whocall::test
