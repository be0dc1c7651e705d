// Whether a called function may have jumped on to another one.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/code/tail_calls.h"
#include "unwind_code.h"

namespace whocall::test {
namespace {

TEST_CASE("tail calls: direct jumps lead on, in every form, and over several functions") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    Functions functions(*arch);
    const Address last = functions.add({0xc3});
    const Address jumps = functions.add(functions.branch(0xe9, last));
    // test %eax,%eax; je last
    const Address branches = functions.add(
        Bytes{0x85, 0xc0, 0x0f, 0x84}.u32(last - (functions.address(2) + 8)).append(Bytes{0xc3}));
    const Address far = functions.add(functions.branch(0xe9, branches));
    const Address calls = functions.add(functions.branch(0xe8, last).append(Bytes{0xc3}));
    const Address loop = functions.add(functions.branch(0xe9, functions.address(5)));
    CodeProcess process(*arch, functions.file());
    TailCalls tail_calls(*process.image, process.code);
    CHECK(tail_calls.lead(jumps, last));
    CHECK(tail_calls.lead(branches, last));
    CHECK(tail_calls.lead(far, last));
    CHECK(tail_calls.lead(far, branches));
    CHECK(tail_calls.lead(far, last));  // from memory
    CHECK_FALSE(tail_calls.lead(calls, last));
    CHECK_FALSE(tail_calls.lead(last, jumps));
    CHECK_FALSE(tail_calls.lead(loop, last));
    CHECK_FALSE(tail_calls.lead(0x12345000, last));
    CHECK_FALSE(tail_calls.lead(jumps, 0x12345000));
  }
}

TEST_CASE("tail calls: a jump behind bytes that are no instruction counts too") {
  Functions functions(kX86_64);
  const Address last = functions.add({0xc3});
  const Address odd = functions.add(Bytes{0x06}.append(functions.branch(0xe9, last, 1)));
  CodeProcess process(kX86_64, functions.file());
  CHECK(TailCalls(*process.image, process.code).lead(odd, last));
}

TEST_CASE("tail calls: the search ends where chains are longer than programs write them") {
  Functions functions(kX86_64);
  const Address last = functions.add({0xc3});
  for (std::size_t number = 1; number < 40; ++number) {
    functions.add(functions.branch(0xe9, functions.address(number - 1)));
  }
  CodeProcess process(kX86_64, functions.file());
  TailCalls tail_calls(*process.image, process.code);
  CHECK(tail_calls.lead(functions.address(2), last));
  CHECK_FALSE(tail_calls.lead(functions.address(39), last));
}

}  // namespace
}  // namespace whocall::test
