// What the bytes around an address say of a start there.
#include <doctest/doctest.h>

#include <vector>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x32_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "start_code.h"

namespace whocall::test {
namespace {

TEST_CASE("the look of a start: what stands before it and how it begins") {
  const Bytes code =
      Bytes{0xc3}.fill(15, 0xcc).append(Bytes{0x55, 0x48, 0x89, 0xe5}).fill(32, 0x90);
  const StartFeatures framed_look = kX86_64.code.features_at_start(code.view(), 16);
  CHECK(framed_look.behind_end);
  CHECK(framed_look.prologue);
  CHECK_FALSE(framed_look.landing_pad);
  const Bytes pad = Bytes{0xc3, 0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc0}.fill(32, 0x90);
  const StartFeatures pad_look = kX86_64.code.features_at_start(pad.view(), 1);
  CHECK(pad_look.landing_pad);
  CHECK(pad_look.behind_end);
  // xor %eax,%eax goes on into what follows.
  const Bytes middle = Bytes{0x31, 0xc0, 0x31, 0xc9}.fill(32, 0x31);
  CHECK_FALSE(kX86_64.code.features_at_start(middle.view(), 2).behind_end);
  CHECK_FALSE(kX86_64.code.features_at_start(middle.view(), 2).prologue);
}

TEST_CASE("the look of a start: landing pads that catch exceptions") {
  const auto look = [](const Architecture& arch, const Bytes& behind, std::uint8_t kind) {
    const Bytes code = Bytes{0xc3, 0xf3, 0x0f, 0x1e, kind}.append(behind).fill(0x60, 0x90);
    return arch.code.features_at_start(code.view(), 1);
  };
  const auto catches = [&](const Bytes& behind) { return look(kX86_64, behind, 0xfa).catches; };
  CHECK(catches({0x48, 0x89, 0xc3}));              // mov %rax,%rbx
  CHECK(catches({0x48, 0x8b, 0x7d, 0xe0}));        // mov -0x20(%rbp),%rdi
  CHECK(catches({0x4c, 0x89, 0x65, 0xd8}));        // mov %r12,-0x28(%rbp)
  CHECK_FALSE(catches({0x48, 0x89, 0xe5}));        // mov %rsp,%rbp
  CHECK_FALSE(catches({0x48, 0x8b, 0x7b, 0x10}));  // mov 0x10(%rbx),%rdi
  const auto catches32 = [&](const Bytes& behind) { return look(kI386, behind, 0xfb).catches; };
  CHECK(catches32({0x83, 0xec, 0x0c, 0x89, 0x45, 0xe4}));  // sub $12,%esp; mov %eax,-28(%ebp)
  CHECK_FALSE(catches32({0x83, 0xec, 0x0c, 0x8b, 0x44, 0x24, 0x10}));
  // jmp to the middle of what is aligned, and to a function.
  CHECK(look(kX86_64, {0xe9, 0x1b, 0, 0, 0}, 0xfa).leaves);
  CHECK_FALSE(look(kX86_64, {0xe9, 0x16, 0, 0, 0}, 0xfa).leaves);
}

TEST_CASE("the look of a start: operands that look like the end of a function") {
  const auto behind_end = [](const Bytes& before) {
    return kX86_64.code.features_at_start(before.view(), before.view().size()).behind_end;
  };
  CHECK_FALSE(behind_end({0x49, 0x89, 0xf4}));        // mov %rsi,%r12: no hlt
  CHECK_FALSE(behind_end({0x48, 0x89, 0xc3}));        // mov %rax,%rbx: no ret
  CHECK_FALSE(behind_end({0x48, 0x89, 0xeb, 0x51}));  // mov %rbp,%rbx; push %rcx: no jmp
  CHECK(behind_end({0x48, 0x83, 0xc4, 0x08, 0xc3}));  // add $8,%rsp; ret
  CHECK(behind_end({0xb0, 0x01, 0xc3}));              // mov $1,%al; ret
  CHECK(behind_end({0x5b, 0xeb, 0x10}));              // pop %rbx; jmp
  CHECK(behind_end({0xff, 0x15, 1, 2, 0, 0, 0xf4}));  // call *main's caller; hlt
  CHECK(behind_end({0xe8, 1, 2, 0, 0, 0xf4}));
}

TEST_CASE("the look of a start: where pointers have 4 bytes, no prefix makes operands wide") {
  const Bytes lowers = Bytes{0xc3, 0x83, 0xec, 0x08}.fill(32, 0x90);  // sub $8,%esp
  CHECK(kX32.code.features_at_start(lowers.view(), 1).prologue);
  CHECK_FALSE(kX86_64.code.features_at_start(lowers.view(), 1).prologue);
  // lea 0x20(%rip),%edi; lea 0x10(%rip),%r8d
  const Bytes takes =
      Bytes{0x8d, 0x3d, 0x20, 0, 0, 0, 0x44, 0x8d, 0x05, 0x10, 0, 0, 0}.fill(0x60, 0x90);
  const std::vector<Address> taken = {kText + 0x26, kText + 0x1d};
  StartMarks marks;
  kX32.code.append_start_marks(takes.view(), kText, marks);
  CHECK(marks.address_taken == taken);
  std::vector<ConstantAddress> found;
  kX32.code.append_constant_addresses(takes.view(), kText, {}, true, {kText, kText + 0x60}, found);
  REQUIRE(found.size() == 2);
  CHECK(found[0].at == kText);
  CHECK(found[0].destination == kX32.register_named("rdi"));
  CHECK(found[1].at == kText + 6);
  CHECK(found[1].value == kText + 0x1d);
  CHECK(found[1].destination == kX32.register_named("r8"));
}

TEST_CASE("the look of a start: anywhere in code that is cut off, nothing beyond is read") {
  const Bytes whole{0xc3, 0xcc, 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xe9, 0, 0x53};
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::vector<std::byte> part(whole.get().begin(), whole.get().begin() + size);
      const ByteView view(part, Endian::little);
      for (std::size_t at = 0; at <= size; ++at) {
        (void)arch->code.features_at_start(view, at);
      }
      StartMarks marks;
      arch->code.append_start_marks(view, kText, marks);
      for (const Address mark : marks.prologues) {
        CHECK(mark - kText < size);
      }
    }
  }
}

}  // namespace
}  // namespace whocall::test
