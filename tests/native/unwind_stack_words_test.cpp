// What the words of a stack tell by themselves.
#include <doctest/doctest.h>

#include "arch/mips/facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind/judge/stack_words.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kBase = 0x7000;
constexpr Address kEven = 0x401a0;  // as a function's
constexpr Address kOdd = 0x401a5;

// `count` frames of `words` words each; the uppermost of each is the return address.
TestProcess recursion(const Architecture& arch, std::uint64_t count, std::uint64_t words,
                      Address pc) {
  Stack stack(kBase, arch);
  for (std::uint64_t i = 0; i < count; ++i) {
    stack.words(words - 1, i).word(pc);
  }
  TestProcess process(arch);
  process.stack(stack.words(words, 0));
  return process;
}

bool is_copied(std::uint64_t times) {
  const TestProcess process = recursion(kX86_64, times, 6, kOdd);
  return is_copied_pointer(kBase + 40, kOdd, *process.image());
}

TEST_CASE("stack words: an even address of which no code is seen is returned to in a recursion") {
  for (const Architecture* arch : {&kX86_64, &kMips}) {
    const Address size = arch->registers.size;
    const auto above = static_cast<Address>(arch->cfa_above_return_slot());
    const auto cfa_of = [&](Address frame) { return kBase + (frame * 6 + 5) * size + above; };
    const TestProcess deep = recursion(*arch, 20, 6, kEven);
    for (const Address frame : {0, 10, 18, 19}) {
      CHECK(looks_returned_to(cfa_of(frame), kEven, *deep.image()));
    }
    const TestProcess shallow = recursion(*arch, 4, 6, kEven);
    CHECK_FALSE(looks_returned_to(cfa_of(0), kEven, *shallow.image()));
  }
  const TestProcess single = recursion(kX86_64, 1, 1, kOdd);
  CHECK(looks_returned_to(kBase + 8, kOdd, *single.image()));
}

TEST_CASE("stack words: what comes again once was copied, unless again at that distance") {
  CHECK_FALSE(is_copied(1));
  CHECK(is_copied(2));
  CHECK_FALSE(is_copied(3));
}

}  // namespace
}  // namespace whocall::test
