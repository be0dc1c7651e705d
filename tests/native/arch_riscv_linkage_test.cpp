// Stubs, start-up code and addresses of RISC-V programs; calls and ends of functions seen from
// behind.
#include "riscv_parcels.h"

namespace whocall::test {
namespace {

using namespace rv;

std::optional<JumpStub> stub(std::initializer_list<std::uint32_t> all, Address at = 0x590) {
  return kRiscv64.linkage.stub_at(code(all).view(), at);
}

TEST_CASE("riscv jump stub: slots of the PLT, mere jumps, and what is neither") {
  // auipc t3,2; ld t3,-1400(t3); jalr t1,t3; nop
  const auto slot = stub({0x00002e17, 0xa88e3e03, 0x000e0367, 0x00000013});
  REQUIRE(slot);
  CHECK(slot->slot == Address{0x2018});
  CHECK_FALSE(slot->target);
  const auto padded = stub({0x00000017, 0x00002e17, 0xa88e3e03, 0x000e0367}, 0x58c);  // lpad
  REQUIRE(padded);
  CHECK(padded->slot == Address{0x2018});
  CHECK(stub({0xb7f5}, 0x1000)->target == Address{0xfec});                   // c.j
  CHECK(stub({0x00001317, 0x01030067}, 0x1000)->target == Address{0x2010});  // tail
  CHECK_FALSE(stub({0x8782}));                  // jr a5, of which nothing is known
  CHECK_FALSE(stub({0x1141, 0xb7f5}));          // a function that jumps back
  CHECK_FALSE(stub({0x00002517, 0xa88e3e03}));  // auipc a0: no temporary
  CHECK_FALSE(stub({0x00002e17, 0xa88e3e03}));
}

// glibc's _start: jal load_gp; mv a5,a0; main; ld a1,0(sp); addi a2,sp,8; andi sp,sp,-16; ...
TEST_CASE("riscv start-up code: main in the GOT and by its address, and what gp holds") {
  const auto start = [](std::uint32_t page, std::uint32_t place) {
    return code({0x022000ef, 0x87aa, page, place, 0x6582, 0x0030, 0xff017113, 0x4681, 0x4701,
                 0x880a, 0xfc5ff0ef, 0x9002, 0x00002197, 0x22e18193, 0x8082});
  };
  const Bytes by_slot = start(0x00002517, 0xa8253503);  // auipc a0,2; ld a0,-1406(a0)
  const auto in_slot = kRiscv64.linkage.startup(by_slot.view(), 0x5b0);
  REQUIRE(in_slot);
  CHECK(in_slot->main_slot == Address{0x2038});
  CHECK(kRiscv64.linkage.global_pointer(by_slot.view(), 0x5b0) == Address{0x2800});
  const Bytes by_address = start(0x00000517, 0x10050513);  // auipc a0,0; addi a0,a0,256
  const auto taken = kRiscv64.linkage.startup(by_address.view(), 0x5b0);
  REQUIRE(taken);
  CHECK(taken->main == Address{0x6b6});
  CHECK_FALSE(kRiscv64.linkage.startup(code({0x1141, 0xe406, 0xfc5ff0ef}).view(), 0x5b0));
}

// musl's _start: lla gp; mv a0,sp; lla a1,_DYNAMIC; andi sp,sp,-16; tail _start_c. That: lw
// a1,0(a0); addi a2,a0,8; li a5,0; _fini; _init; main; and a jump, or a call in a frame of its own.
TEST_CASE("riscv start-up code: musl's in two parts") {
  const Bytes first = code(
      {0x00002197, 0x1e618193, 0x850a, 0x00002597, 0x83c58593, 0xff017113, 0x00000317, 0x00830067});
  const auto start = kRiscv64.linkage.startup(first.view(), 0x61a);
  REQUIRE(start);
  CHECK(start->next == Address{0x638});
  CHECK_FALSE(start->main_slot);
  const auto next = [](std::initializer_list<std::uint32_t> all) {
    return kRiscv64.linkage.startup(code(all).view(), 0x638);
  };
  // lw a1,0(a0); addi a2,a0,8; li a5,0; auipc a4; ld a4; auipc a3; ld a3; auipc a0; ld a0; c.j
  const auto jumps = next({0x410c, 0x00850613, 0x4781, 0x00002717, 0xa0873703, 0x00002697,
                           0xa106b683, 0x00002517, 0xa0053503, 0xbde5});
  REQUIRE(jumps);
  CHECK(jumps->main_slot == Address{0x2050});
  CHECK_FALSE(jumps->next);
  // addi sp,sp,-16; mv a5,a0; lla a0,main; lw a1,0(a5); sd ra,8(sp); jal ra
  const auto calls = next({0x1141, 0x87aa, 0x00000517, 0x10050513, 0x438c, 0xe406, 0xfc5ff0ef});
  REQUIRE(calls);
  CHECK(calls->main == Address{0x73c});
  CHECK_FALSE(next({0x1141, 0x00000517, 0x10050513, 0x438c, 0xe406, 0xfc5ff0ef}));  // of another
  CHECK_FALSE(next({0x1141, 0x00000517, 0x10050513, 0xe406, 0xfc5ff0ef}));
}

TEST_CASE("riscv constants: pairs, the global pointer, and numbers that are no addresses") {
  const auto found = [](std::initializer_list<std::uint32_t> all, bool fixed,
                        std::optional<Address> pointer = {}) {
    std::vector<ConstantAddress> constants;
    const Bytes bytes = code(all);
    kRiscv64.code.append_constant_addresses(bytes.view(), 0x1000, {.pointer = pointer}, fixed,
                                            {0, 0x100000}, constants);
    std::vector<Address> values;
    for (const auto& each : constants) {
      values.push_back(each.value);
    }
    return values;
  };
  using Values = std::vector<Address>;
  CHECK(found({0x00002517, 0xa8250513}, false) == Values{0x2a82});  // auipc a0; addi a0,a0
  CHECK(found({0x6545, 0x87050513}, true) == Values{0x10870});      // c.lui a0,0x11; addi
  CHECK(found({0x6545, 0x87050513}, false).empty());                // the number 67696
  CHECK(found({0x85018693}, true, 0x12800) == Values{0x12050});     // addi a3,gp,-1968
  CHECK(found({0x85018693}, true).empty());
  CHECK(found({0x00002517, 0x9782, 0xa8250513}, false).empty());      // a call in between
  CHECK(found({0x00002417, 0x9782, 0xa8240413}, false).size() == 1);  // s0 outlives it
}

TEST_CASE("riscv calls: seen from behind, short, long and far") {
  const auto before = [](std::initializer_list<std::uint32_t> all, Address end) {
    return kRiscv64.code.call_before(code(all).view(), end);
  };
  CHECK(before({0xff1ff0ef}, 0x1004)->target == Address{0xff0});
  CHECK(before({0x00000097, 0xee4080e7}, 0x10624)->target == Address{0x10500});
  CHECK(before({0x000780e7}, 0x1004)->indirect);
  // ld a0,1088(a4); jalr a5: the last half of the load and the call look like one of 4 bytes.
  const auto shorter = before({0x44073503, 0x9782}, 0x1baaa);
  REQUIRE(shorter);
  CHECK(shorter->size == 2);
  CHECK(shorter->indirect);
  CHECK_FALSE(before({0x8782}, 0x1002));
  CHECK_FALSE(before({0x9782}, 0x1003));
}

TEST_CASE("riscv ends of functions: returns and jumps, with what fills the gap behind them") {
  const auto ends = [](std::initializer_list<std::uint32_t> all) {
    return kRiscv64.code.flow_ends(code(all).view());
  };
  CHECK(ends({0x44073503, 0x8082}));
  CHECK(ends({0x8082, 0x0001}));
  CHECK(ends({0x8082, 0x0000}));
  CHECK(ends({0x0001, 0x0001, 0x00000013, 0x00000013}));
  CHECK(ends({0xb7f5}));
  CHECK_FALSE(ends({0x9782}));
  CHECK_FALSE(ends({0xff1ff0ef, 0x0001}));
}

TEST_CASE("riscv starts: a prologue right behind a call that does not come back") {
  const auto starts = [](std::initializer_list<std::uint32_t> all) {
    StartMarks marks;
    kRiscv64.code.append_start_marks(code(all).view(), 0x1000, marks);
    std::ranges::sort(marks.prologues);
    return marks.prologues;
  };
  // jal; addi sp,sp,-96; sd s1,72(sp); sd ra,88(sp)
  CHECK(starts({0x8082, 0xff1ff0ef, 0x711d, 0xe4a6, 0xec86}) == std::vector<Address>{0x1006});
  CHECK(starts({0x8082, 0xff1ff0ef, 0x711d, 0xe4a6, 0x8082}).empty());  // room for arguments
}

}  // namespace
}  // namespace whocall::test
