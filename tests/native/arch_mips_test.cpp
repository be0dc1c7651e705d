// MIPS: units with delay slots, ABIs told apart by flags, stubs, walks without tables.
#include <doctest/doctest.h>
#include <elf.h>

#include "arch/mips/facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

using Flow = Instruction::Flow;
using Kind = Effect::Kind;

constexpr Address kCode = 0x400000;

Bytes words(const Architecture& arch, std::initializer_list<std::uint32_t> list) {
  Bytes code(arch.abi.endian);
  for (const std::uint32_t word : list) {
    code.u32(word);
  }
  return code;
}

std::optional<Instruction> decode(const Architecture& arch,
                                  std::initializer_list<std::uint32_t> list) {
  const Bytes code = words(arch, list);
  return decoder_for(arch)->decode(ByteView(code.get(), arch.abi.endian), kCode);
}

std::optional<CallSite> call_before(const Architecture& arch,
                                    std::initializer_list<std::uint32_t> list) {
  const Bytes code = words(arch, list);
  return arch.code.call_before(ByteView(code.get(), arch.abi.endian), kCode + code.size());
}

TEST_CASE("mips: functions begin by setting the pointer to their data, also behind a call") {
  // jal; nop; lui gp,4; addiu gp,gp,64; addu gp,gp,t9; addiu sp,sp,-32
  const Bytes code =
      words(kMipsel, {0x0c100100, 0, 0x3c1c0004, 0x279c0040, 0x0399e021, 0x27bdffe0});
  StartMarks marks;
  kMipsel.code.append_start_marks(code.view(), kCode, marks);
  CHECK(marks.prologues == std::vector<Address>{kCode + 8});
  // bal to what follows; nop; lui gp,4: asks for the pc
  const Bytes asks = words(kMipsel, {0x04110001, 0, 0x3c1c0004, 0x279c0040});
  StartMarks none;
  kMipsel.code.append_start_marks(asks.view(), kCode, none);
  CHECK(none.prologues.empty());
  CHECK(none.call_targets.empty());
}

TEST_CASE("mips: a jump is one unit with its delay slot, whose effects come first") {
  for (const Architecture* arch : {&kMips, &kMipsel, &kMips64, &kMips64el, &kMipsN32el}) {
    CAPTURE(arch->name);
    // bne a0,a1,+16; addiu a0,a0,-1: what it compared is written after that.
    const auto spoilt =
        decode(*arch, {0x14850003, arch->abi.pointer_size == 8 ? 0x6484ffffU : 0x2484ffffU});
    REQUIRE(spoilt.has_value());
    CHECK(spoilt->size == 8);
    CHECK(spoilt->flow == Flow::branch);
    CHECK(spoilt->target == kCode + 16);
    REQUIRE(spoilt->effect_count == 1);
    CHECK(spoilt->effects[0].kind == Kind::set);
    CHECK(spoilt->effects[0].offset == -1);
    CHECK(decode(*arch, {0x14850003, 0})->flow == Flow::branch_if_unequal);
    // jr ra; nop
    const auto back = decode(*arch, {0x03e00008, 0});
    REQUIRE(back.has_value());
    CHECK(back->returns);
    // A jump in a delay slot, and one whose slot is not there.
    CHECK_FALSE(decode(*arch, {0x03e00008, 0x03e00008}).has_value());
    CHECK_FALSE(decode(*arch, {0x03e00008}).has_value());
  }
}

TEST_CASE("mips: the slot of a likely branch may not have been run") {
  const auto likely = decode(kMipsel, {0x50400003, 0x8fbf001c});  // beqzl v0; lw ra,28(sp)
  REQUIRE(likely.has_value());
  REQUIRE(likely->effect_count == 1);
  CHECK(likely->effects[0].kind == Kind::clobber);
  CHECK(likely->effects[0].destination == 31);
  CHECK(decode(kMipsel, {0x10400003, 0x8fbf001c})->effects[0].kind == Kind::load);
}

TEST_CASE("mips: whole registers are saved, halves of them are not") {
  CHECK(decode(kMipsel, {0xafbf001c})->effects[0].kind == Kind::store);          // sw ra,28(sp)
  CHECK(decode(kMips64el, {0xafbf001c})->effects[0].kind == Kind::store_other);  // the same
  CHECK(decode(kMips64el, {0xffbf0018})->effects[0].kind == Kind::store);        // sd ra,24(sp)
  CHECK(decode(kMipsN32el, {0xffbf0018})->effects[0].kind == Kind::store);
  CHECK_FALSE(decode(kMipsel, {0xffbf0018}).has_value());
  // addiu sp,sp,-32 counts with pointers of 4 bytes alone.
  CHECK(decode(kMipsN32el, {0x27bdffe0})->effects[0].kind == Kind::set);
  CHECK(decode(kMips64el, {0x27bdffe0})->effects[0].kind == Kind::clobber);
}

TEST_CASE("mips: calls end behind their delay slots") {
  for (const Architecture* arch : {&kMips, &kMipsel}) {
    const auto direct = call_before(*arch, {0x0c100040, 0});  // jal 0x400100; nop
    REQUIRE(direct.has_value());
    CHECK(direct->target == 0x400100);
    CHECK(direct->size == 8);
    const auto near = call_before(*arch, {0x0411003f, 0});  // bal +0x100; nop
    REQUIRE(near.has_value());
    CHECK(near->target == kCode + 0x100);
    const auto indirect = call_before(*arch, {0x0320f809, 0x02002025});  // jalr t9; move a0,s0
    REQUIRE(indirect.has_value());
    CHECK(indirect->indirect);
    CHECK_FALSE(call_before(*arch, {0x0c100040}).has_value());
    CHECK_FALSE(call_before(*arch, {0x03200008, 0}).has_value());  // jr t9; nop
  }
}

TEST_CASE("mips: the ABI is in the flags, and code of other encodings is refused") {
  const auto of = [](std::uint32_t flags, unsigned size, Endian endian) -> std::string_view {
    const Architecture* arch = find_architecture(ElfIdentity{EM_MIPS, size, endian, flags});
    return arch == nullptr ? "" : arch->name;
  };
  CHECK(of(0x70001007, 4, Endian::little) == "mipsel");
  CHECK(of(0x70001007, 4, Endian::big) == "mips");
  CHECK(of(0, 4, Endian::little) == "mipsel");  // what cores say
  CHECK(of(0x80000027, 4, Endian::little) == "mipsn32el");
  CHECK(of(0x80000007, 8, Endian::little) == "mips64el");
  CHECK(of(0x80000007, 8, Endian::big) == "mips64");
  CHECK(of(0x72001007, 4, Endian::little).empty());  // microMIPS
  CHECK(of(0x90001407, 4, Endian::little).empty());  // release 6
}

TEST_CASE("mips: stubs of the PLT name the word they jump by") {
  // lui t7,0x42; lw t9,-32748(t7); jr t9; addiu t8,t7,-32748
  const Bytes code = words(kMipsel, {0x3c0f0042, 0x8df98014, 0x03200008, 0x25f88014});
  const auto stub = kMipsel.linkage.stub_at(ByteView(code.get(), Endian::little), kCode);
  REQUIRE(stub.has_value());
  CHECK(stub->slot == Address{0x418014});
  const Bytes other = words(kMipsel, {0x3c0f0042, 0x8df98014, 0, 0});
  CHECK_FALSE(kMipsel.linkage.stub_at(ByteView(other.get(), Endian::little), kCode).has_value());
}

constexpr Address kMain = kCode;
constexpr Address kLeaf = kCode + 0x28;
constexpr Address kPage = 0x3ffff000;
constexpr Address kStack = 0x40800000;

// main, position-independent, calls a leaf with no frame.
Bytes program(const Architecture& arch) {
  return words(arch, {
                         0x3c1c0002,  // lui gp,2
                         0x279c8000,  // addiu gp,gp,-32768
                         0x0399e021,  // addu gp,gp,t9
                         0x27bdffe0,  // addiu sp,sp,-32
                         0xafbf001c,  // sw ra,28(sp)
                         0x0c10000a,  // jal leaf
                         0xafb00018,  // sw s0,24(sp): in the slot
                         0x8fbf001c,  // lw ra,28(sp)
                         0x03e00008,  // jr ra
                         0x27bd0020,  // addiu sp,sp,32: in the slot
                         0x8c820000,  // leaf: lw v0,0(a0)
                         0x03e00008,  // jr ra
                         0x00000000,
                     });
}

TEST_CASE("mips: the analysis from a leaf, and at the return whose slot drops the frame") {
  for (const Architecture* arch : {&kMips, &kMipsel}) {
    CAPTURE(arch->name);
    TestProcess process(*arch);
    process.map(kCode, program(*arch).get(), "r-x");
    Stack stack(kStack, *arch);
    stack.words(2, 0).mark("main sp").words(7, 0).word(kMain + 0x1c).mark("above").words(8, 0);
    process.stack(stack);
    const auto trace = process.walk(
        {{"pc", kLeaf}, {"sp", stack.at("main sp")}, {"ra", kMain + 0x1c}}, only({"analysis"}));
    REQUIRE(trace.frames.size() >= 2);
    CHECK(trace.frames[1].pc == kMain + 0x1c);
    CHECK(trace.frames[1].sp == stack.at("main sp"));
    const auto ending =
        process.walk({{"pc", kMain + 0x20}, {"sp", stack.at("main sp")}, {"ra", kMain + 0x1c}},
                     only({"analysis"}));
    REQUIRE(ending.frames.size() >= 2);
    CHECK(ending.frames[1].sp == stack.at("above"));
  }
}

// Handlers of o32 return to the first bytes of the kernel's page: nothing stands before them.
TEST_CASE("mips: a signal frame whose trampoline begins its mapping") {
  for (const Architecture* arch : {&kMips, &kMipsel}) {
    CAPTURE(arch->name);
    const bool big = arch->abi.endian == Endian::big;
    TestProcess process(*arch);
    process.map(kCode, program(*arch).get(), "r-x");
    process.map(kPage, words(*arch, {0x24021017, 0x0000000c}).get(), "r-x");
    Stack stack(kStack, *arch);
    const auto wide = [&](std::uint64_t value) {
      stack.word(big ? 0 : value).word(big ? value : 0);
    };
    stack.words(2, 0).mark("handler sp").words(6, 0).word(0).word(0);  // arguments, mask and status
    wide(kLeaf);
    for (unsigned number = 0; number < 32; ++number) {
      wide(number == 29 ? kStack + 0x400 : (number == 31 ? kMain + 0x1c : 0));
    }
    stack.up_to(kStack + 0x400).words(7, 0).word(kMain + 0x1c).words(8, 0);
    process.stack(stack);
    const auto trace = process.walk({{"pc", kLeaf}, {"sp", stack.at("handler sp")}, {"ra", kPage}},
                                    only({"analysis", "signal-frame"}));
    REQUIRE(trace.frames.size() >= 4);
    CHECK(trace.frames[1].pc == kPage);
    CHECK(trace.frames[2].pc == kLeaf);
    CHECK(trace.frames[2].sp == kStack + 0x400);
    CHECK(trace.frames[3].pc == kMain + 0x1c);
  }
}

}  // namespace
}  // namespace whocall::test
