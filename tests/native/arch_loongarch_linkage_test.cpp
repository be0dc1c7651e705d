// Stubs, start-up code and addresses of LoongArch programs; calls and ends of functions seen from
// behind. The numbers are those of GNU as and ld.
#include "loongarch_words.h"

namespace whocall::test {
namespace {

using namespace la;

std::optional<JumpStub> la_stub(std::initializer_list<std::uint32_t> words, Address at = 0x580) {
  return kLoongArch64.linkage.stub_at(code(words).view(), at);
}

TEST_CASE("loongarch jump stub: slots of the PLT, mere jumps, and what is neither") {
  // pcaddu12i t3,32; ld.d t3,t3,-1408; jirl t1,t3,0; nop
  const auto slot = la_stub({0x1c00040f, 0x28ea01ef, 0x4c0001ed, 0x03400000});
  REQUIRE(slot);
  CHECK(slot->slot == Address{0x20000});
  CHECK_FALSE(slot->target);
  CHECK(la_stub({0x50002000})->target == Address{0x5a0});              // b
  CHECK(la_stub({0x1e00000c, 0x4c001180})->target == Address{0x590});  // pcaddu18i t0; jr t0
  // pcalau12i t0,1; addi.d t0,t0,16; jr t0
  CHECK(la_stub({0x1a00002c, 0x02c0418c, 0x4c000180})->target == Address{0x1010});
  CHECK_FALSE(la_stub({0x4c000180}));                          // jr t0, of which nothing is known
  CHECK_FALSE(la_stub({0x02ff4063, 0x50002000}));              // a function that jumps
  CHECK_FALSE(la_stub({0x1a000024, 0x02c04084, 0x4c000080}));  // by a0: no temporary
  CHECK_FALSE(la_stub({0x1c00040f, 0x28ea01ef}));
  // The first slot: pcaddu12i t2,32; sub.d t1,t1,t3; ...
  CHECK_FALSE(la_stub({0x1c00040e, 0x0011bdad, 0x28ea41cf, 0x02ff51ad, 0x4c0001e0}, 0x560));
}

// glibc's _start: move a5,a0; main; ld.d a1,sp,0; addi.d a2,sp,8; bstrins.d sp,zero,3,0; ...
TEST_CASE("loongarch start-up code: main by its address and in the GOT; musl's goes on elsewhere") {
  const auto start = [](std::initializer_list<std::uint32_t> main, Address at) {
    Bytes bytes = code({0x00150089});
    for (const std::uint32_t word : main) {
      bytes.u32(word);
    }
    for (const std::uint32_t word :
         {0x28c00065U, 0x02c02066U, 0x00830003U, 0x00150007U, 0x00150008U, 0x0015006aU, 0x1a000001U,
          0x02d6000cU, 0x1600000cU, 0x0300018cU, 0x0010b021U, 0x4c000021U}) {
      bytes.u32(word);
    }
    return kLoongArch64.linkage.startup(bytes.view(), at);
  };
  // pcalau12i a0,0; addi.d t0,zero,2004; lu32i.d t0,0; lu52i.d t0,t0,0; add.d a0,a0,t0
  const auto near = start({0x1a000004, 0x02df500c, 0x1600000c, 0x0300018c, 0x0010b084}, 0x5a0);
  REQUIRE(near);
  CHECK(near->main == Address{0x7d4});
  // pcalau12i a0,1; addi.d t0,zero,-2044; lu32i.d t0,-1; lu52i.d t0,t0,-1; add.d
  const auto below =
      start({0x1a000024, 0x02e0100c, 0x17ffffec, 0x033ffd8c, 0x0010b084}, 0x120000638);
  REQUIRE(below);
  CHECK(below->main == Address{0x120000804});
  // The same with ldx.d a0,a0,t0.
  const auto slot = start({0x1a000004, 0x02df500c, 0x1600000c, 0x0300018c, 0x380c3084}, 0x5a0);
  REQUIRE(slot);
  CHECK(slot->main_slot == Address{0x7d4});
  CHECK_FALSE(slot->main);
  // musl: move fp,zero; move a0,sp; pcalau12i a1,0; addi.d; bstrins.d; b
  const Bytes musl = code({0x00150016, 0x00150064, 0x1a000005, 0x02c040a5, 0x00830003, 0x50002000});
  CHECK(kLoongArch64.linkage.startup(musl.view(), 0x1000)->next == Address{0x1034});
  // A function: addi.d sp,sp,-48; st.d ra,sp,40; bl
  CHECK_FALSE(kLoongArch64.linkage.startup(code({0x02ff4063, 0x29c0a061, 0x57fff3ff}).view(), 0));
}

TEST_CASE("loongarch constants: near, by pages, absolute, and numbers that are no addresses") {
  const auto found = [](std::initializer_list<std::uint32_t> words, bool fixed) {
    std::vector<ConstantAddress> constants;
    const Bytes bytes = code(words);
    kLoongArch64.code.append_constant_addresses(bytes.view(), 0x1000, {}, fixed, {0x800, 0x100000},
                                                constants);
    std::vector<Address> values;
    for (const auto& each : constants) {
      values.push_back(each.value);
    }
    return values;
  };
  using Values = std::vector<Address>;
  CHECK(found({0x18000037}, false) == Values{0x1004});                          // pcaddi s0,1
  CHECK(found({0x1a000037, 0x02c042f7}, false) == Values{0x2010});              // pcalau12i; addi.d
  CHECK(found({0x1a000037, 0x57fff3ff, 0x02c042f7}, false) == Values{0x2010});  // s0 outlives bl
  CHECK(found({0x1a000024, 0x57fff3ff, 0x02c04084}, false).empty());            // a0 does not
  CHECK(found({0x14000037, 0x038042f7}, true) == Values{0x1000 + 16});          // lu12i.w s0,1; ori
  CHECK(found({0x14000037, 0x038042f7}, false).empty());
}

TEST_CASE("loongarch calls: seen from behind, near and far") {
  const auto before = [](std::initializer_list<std::uint32_t> words, Address end) {
    return kLoongArch64.code.call_before(code(words).view(), end);
  };
  CHECK(before({0x57fff3ff}, 0x1004)->target == Address{0xff0});
  CHECK(before({0x1e000021, 0x4ffff821}, 0x1008)->target == Address{0x40ff8});
  CHECK(before({0x1e000021, 0x4ffff821}, 0x1008)->size == 8);
  CHECK(before({0x03400000, 0x4c0000a1}, 0x1008)->size == 4);
  CHECK(before({0x4c0000a1}, 0x1004)->indirect);
  CHECK_FALSE(before({0x4c000020}, 0x1004));
  CHECK_FALSE(before({0x57fff3ff}, 0x1002));
}

TEST_CASE("loongarch ends of functions: returns and jumps, with what fills the gap behind them") {
  const auto ends = [](std::initializer_list<std::uint32_t> words) {
    return kLoongArch64.code.flow_ends(code(words).view());
  };
  CHECK(ends({0x4c000020}));
  CHECK(ends({0x4c000020, 0x03400000}));
  CHECK(ends({0x50002000}));
  CHECK(ends({0x002a0000}));
  CHECK_FALSE(ends({0x57fff3ff}));
  CHECK_FALSE(ends({0x57fff3ff, 0x03400000}));
}

}  // namespace
}  // namespace whocall::test
