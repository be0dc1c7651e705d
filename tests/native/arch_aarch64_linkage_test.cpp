// Stubs, start-up code and addresses of AArch64 programs, word by word.
#include "aarch64_words.h"

namespace whocall::test {
namespace {

using namespace a64;

constexpr Address kAt = 0x400500;

std::optional<JumpStub> stub(std::initializer_list<std::uint32_t> code) {
  return kAArch64.linkage.stub_at(words(code).view(), kAt);
}

TEST_CASE("aarch64 jump stub: slots of the PLT, plain and with bti") {
  // adrp x16,0x411000; ldr x17,[x16,#0x18]; add x16,x16,#0x18; br x17
  const auto plain = stub({0x90000090, 0xf9400e11, 0x91006210, 0xd61f0220});
  REQUIRE(plain);
  CHECK(plain->slot == Address{0x410018});
  CHECK_FALSE(plain->target);
  const auto padded = stub({0xd503245f, 0x90000090, 0xf9400e11, 0x91006210, 0xd61f0220});
  REQUIRE(padded);
  CHECK(padded->slot == Address{0x410018});
  // The first slot of a page: adrp x16,0x411000; ldr x17,[x16]; nop; br x17
  const auto first = stub({0x90000090, 0xf9400211, 0xd503201f, 0xd61f0220});
  REQUIRE(first);
  CHECK(first->slot == Address{0x410000});
  CHECK_FALSE(stub({0xd503201f, 0x90000090, 0xf9400211, 0xd61f0220}));  // padding before it
}

TEST_CASE("aarch64 jump stub: veneers, mere jumps, and what is neither") {
  const auto veneer = stub({0x90000090, 0x91006210, 0xd61f0200});  // adrp; add x16; br x16
  REQUIRE(veneer);
  CHECK(veneer->target == Address{0x410018});
  CHECK(stub({0x17fffff0})->target == kAt - 64);
  CHECK(stub({0xd503245f, 0x17fffff0})->target == kAt + 4 - 64);
  CHECK_FALSE(stub({0xd61f0220}));              // br x17, of which nothing is known
  CHECK_FALSE(stub({0xa9bd7bfd, 0x17fffff0}));  // a function that jumps back
  CHECK_FALSE(stub({0x90000090}));
}

// glibc's _start: no frame, the arguments, main in x0, the call.
TEST_CASE("aarch64 start-up code: main in the GOT, by its address, and behind a jump") {
  const auto found = [](std::uint32_t page, std::uint32_t place) {
    return kAArch64.linkage.startup(
        words({0xd280001d, 0xd280001e, 0xaa0003e5, 0xf94003e1, 0x910023e2, 0x910003e6, page, place,
               0xd2800003, 0xd2800004, 0x940000e2, 0x97ffff54, 0xd503201f, 0x17ffffce})
            .view(),
        0x4005c4);
  };
  const auto in_slot = found(0x90000080, 0xf947f000);  // adrp x0; ldr x0,[x0,#0xfe0]
  REQUIRE(in_slot);
  CHECK(in_slot->main_slot == Address{0x410fe0});
  CHECK_FALSE(in_slot->main);
  const auto taken = found(0x90000000, 0x91200000);  // adrp x0; add x0,x0,#0x800
  REQUIRE(taken);
  CHECK(taken->main == Address{0x400800});
  const auto wrapped = found(0x90000000, 0x9117d000);  // add x0,x0,#0x5f4: nop; b main
  REQUIRE(wrapped);
  CHECK(wrapped->main == Address{0x400530});
  CHECK_FALSE(kAArch64.linkage.startup(words({0xa9bd7bfd, 0x940000e2}).view(), 0x4005c4));
}

TEST_CASE("aarch64 constants: pages hold until they are overwritten") {
  const auto taken = [](std::initializer_list<std::uint32_t> code) {
    std::vector<ConstantAddress> found;
    kAArch64.code.append_constant_addresses(words(code).view(), 0x400000, {}, true,
                                            {0x410000, 0x411000}, found);
    return found;
  };
  const auto one = taken({0x90000080, 0xaa0003f3, 0x91006001});  // adrp x0; mov; add x1,x0,#24
  REQUIRE(one.size() == 1);
  CHECK(one[0].at == 0x400008);
  CHECK(one[0].value == 0x410018);
  CHECK(one[0].destination == Register{1});
  CHECK(taken({0x90000080, 0xaa1303e0, 0x91006001}).empty());      // mov x0,x19
  CHECK(taken({0x90000080, 0x94000010, 0x91006001}).empty());      // bl
  CHECK(taken({0x90000080, 0xd65f03c0, 0x91006001}).empty());      // ret
  CHECK(taken({0x90000093, 0x94000010, 0x91006261}).size() == 1);  // x19 is preserved
  std::vector<Address> named;
  kAArch64.code.append_named_addresses(words({0x90000080, 0xb9401801}).view(), 0x400000, {}, false,
                                       {0x410000, 0x411000}, named);  // ldr w1,[x0,#24]
  CHECK(named == std::vector<Address>{0x410018});
}

TEST_CASE("aarch64 calls: by bl and blr, four bytes before the return address") {
  const auto direct = kAArch64.code.call_before(words({0x94000010}).view(), 0x1004);
  REQUIRE(direct);
  CHECK(direct->target == Address{0x1040});
  const auto indirect = kAArch64.code.call_before(words({0xd63f0060}).view(), 0x1004);
  REQUIRE(indirect);
  CHECK(indirect->indirect);
  CHECK_FALSE(kAArch64.code.call_before(words({0xd61f0060}).view(), 0x1004));
}

}  // namespace
}  // namespace whocall::test
