// ARM's unwinding instructions and MIPS' prologues, as a process reads them of itself: literal
// tables and instructions; and tables of random bytes, which end in no rule or in any.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "rules/arm_index.h"
#include "rules/cfi_rule.h"
#include "rules/frame_tables.h"
#include "rules/mips_prologue.h"

namespace whocall::test {
namespace {

using rules::ArmIndex;
using rules::ArmInstructions;
using rules::ArmRegisters;
using rules::FrameRule;

constexpr std::uint64_t kBase = 0x10000;

ArmIndex index_in(const std::vector<std::uint32_t>& words, std::uint64_t entries) {
  const rules::ByteSpan mapped{reinterpret_cast<const std::byte*>(words.data()), kBase,
                               words.size() * sizeof words[0]};
  return {.mapped = mapped, .begin = kBase, .entries = entries};
}

// The distance of 31 bits from the word with that number to an address.
std::uint32_t distance(std::size_t word, std::uint64_t address) {
  return static_cast<std::uint32_t>(address - (kBase + 4 * word)) & 0x7fffffffU;
}

// A stack whose word at `address` is `address` itself.
bool read_itself(std::uintptr_t address, std::uintptr_t& value) {
  value = address;
  return true;
}

// As they stand in words of big endian.
template <std::size_t count>
ArmInstructions listed(const std::array<std::uint8_t, count>& bytes) {
  constexpr bool kLittle = std::endian::native == std::endian::little;
  return {{reinterpret_cast<const std::byte*>(bytes.data()), 0, count, kLittle}, 0, count};
}

ArmRegisters registers_at(std::uint32_t sp) {
  ArmRegisters registers;
  registers.values[rules::kArmSp] = sp;
  registers.values[rules::kArmLink] = 0x4444;
  registers.known = 1U << rules::kArmSp | 1U << rules::kArmLink;
  return registers;
}

}  // namespace

TEST_CASE("ARM's index: the entry at or before an address, in the index or behind it") {
  // push {r4, lr}; sub sp, #8 -- vsp += 8; pop {r4, r14}; finish
  const std::vector<std::uint32_t> words{distance(0, 0x8000), 0x8001a8b0,  // in the entry itself
                                         distance(2, 0x8100), 1,           // nothing is known
                                         distance(4, 0x8200), distance(5, kBase + 24),  // a table
                                         0x8101b10f,          0xb0b0b0b0};  // of one more word
  const ArmIndex index = index_in(words, 3);
  ArmInstructions found;
  CHECK_FALSE(find_instructions(index, 0x7fff, found));
  CHECK_FALSE(find_instructions(index, 0x8150, found));
  REQUIRE(find_instructions(index, 0x8200, found));
  CHECK(found.end - found.next == 6);
  REQUIRE(find_instructions(index, 0x80ff, found));
  CHECK(found.end - found.next == 3);

  ArmRegisters registers = registers_at(0x1000);
  REQUIRE(unwind(found, read_itself, registers));
  CHECK(registers.values[4] == 0x1008);
  CHECK(registers.values[rules::kArmPc] == 0x100c);
  CHECK(registers.values[rules::kArmSp] == 0x1010);
}

TEST_CASE("ARM's instructions: a frame pointer that is not known, and one that is") {
  // vsp = r7; vsp -= 8; pop {r7, lr}
  const std::array<std::uint8_t, 4> bytes{0x97, 0x41, 0x84, 0x08};
  const ArmInstructions instructions = listed(bytes);
  ArmRegisters registers = registers_at(0x1000);
  CHECK_FALSE(unwind(instructions, read_itself, registers));
  CHECK(registers.values[rules::kArmSp] == 0x1000);
  registers.values[7] = 0x2008;
  registers.known |= 1U << 7U;
  REQUIRE(unwind(instructions, read_itself, registers));
  CHECK(registers.values[7] == 0x2000);
  CHECK(registers.values[rules::kArmPc] == 0x2004);
  CHECK(registers.values[rules::kArmSp] == 0x2008);
}

TEST_CASE("ARM's instructions: reserved ones and refusals are no caller") {
  for (const auto& bytes : {std::array<std::uint8_t, 2>{0x80, 0x00},
                            {0x9d, 0},
                            {0x9f, 0},
                            {0xb1, 0x00},
                            {0xb1, 0x10},
                            {0xb6, 0},
                            {0xca, 0},
                            {0xd8, 0}}) {
    ArmRegisters registers = registers_at(0x1000);
    CAPTURE(bytes[0]);
    CHECK_FALSE(unwind(listed(bytes), read_itself, registers));
  }
}

TEST_CASE("ARM's instructions: cut off, they are no caller") {
  for (const auto& bytes : {std::array<std::uint8_t, 1>{0x80},
                            {0x88},
                            {0xb1},
                            {0xb2},
                            {0xb3},
                            {0xc6},
                            {0xc7},
                            {0xc8},
                            {0xc9}}) {
    ArmRegisters registers = registers_at(0x1000);
    CAPTURE(bytes[0]);
    CHECK_FALSE(unwind(listed(bytes), read_itself, registers));
  }
}

TEST_CASE("ARM's instructions: far moves, and those that leave the address space") {
  ArmRegisters registers = registers_at(0x1000);
  const std::array<std::uint8_t, 7> far{0xb2, 0x81, 0x80, 0x80, 0x80, 0x01, 0xb0};
  REQUIRE(unwind(listed(far), read_itself, registers));  // 0x204 + (0x10000001 << 2)
  CHECK(registers.values[rules::kArmSp] == 0x1000 + 0x204 + 0x40000004);
  const std::array<std::uint8_t, 7> farther{0xb2, 0x80, 0x80, 0x80, 0x80, 0x04, 0xb0};
  CHECK_FALSE(unwind(listed(farther), read_itself, registers));
}

TEST_CASE("ARM's index: as many instructions as a table counts") {
  std::vector<std::uint32_t> words{distance(0, 0x8000), distance(1, kBase + 8), 0x8114a8b0};
  words.resize(words.size() + 20, 0xb0b0b0b0);  // 22 * 4 - 2 - 2 bytes
  ArmInstructions found;
  REQUIRE(find_instructions(index_in(words, 1), 0x8000, found));
  CHECK(found.end - found.next == 82);
  words.pop_back();
  CHECK_FALSE(find_instructions(index_in(words, 1), 0x8000, found));
}

TEST_CASE("ARM's index: only the first routine's instructions fit into an entry") {
  const std::vector<std::uint32_t> words{
      distance(0, 0x8000), 0x8101b0b0, distance(2, 0x8100), 0x8001a8b0, distance(4, 0x8200), 1};
  ArmInstructions found;
  CHECK_FALSE(find_instructions(index_in(words, 3), 0x8000, found));
  CHECK(find_instructions(index_in(words, 3), 0x8100, found));
}

TEST_CASE("ARM's index: T32 code begins where it does, with or without its bit") {
  const std::vector<std::uint32_t> words{distance(0, 0x8001), 0x8001a8b0};
  ArmInstructions found;
  CHECK(find_instructions(index_in(words, 1), 0x8000, found));
  CHECK_FALSE(find_instructions(index_in(words, 1), 0x7fff, found));
}

TEST_CASE("MIPS' prologues: a frame, the return address, the frame pointer") {
  // addiu sp, sp, -32; sw ra, 28(sp); sw s8, 24(sp); move s8, sp; a return in the middle; nop
  const std::vector<std::uint32_t> code{0x27bdffe0, 0xafbf001c, 0xafbe0018, 0x03a0f025,
                                        0x8fbf001c, 0x03e00008, 0x27bd0020, 0x00000000};
  const auto rule_of = [&](std::size_t count) {
    return rules::mips_rule(code.data(), code.data() + count);
  };
  CHECK(rule_of(0) == FrameRule{.cfa = FrameRule::Cfa::from_sp,
                                .ret = FrameRule::Return::in_link,
                                .by_analysis = true});
  CHECK(rule_of(1).cfa_offset == 32);
  CHECK(rule_of(1).ret == FrameRule::Return::in_link);
  CHECK(rule_of(2).return_slot == -4);
  const FrameRule whole{.cfa = FrameRule::Cfa::from_fp,
                        .ret = FrameRule::Return::stored,
                        .fp = FrameRule::Fp::stored,
                        .by_analysis = true,
                        .cfa_offset = 32,
                        .return_slot = -4,
                        .fp_slot = -8};
  CHECK(rule_of(4) == whole);
  CHECK(rule_of(8) == whole);

  CHECK(rules::mips_frame_before(code.data(), code.data() + 5) == code.data());
  CHECK(rules::mips_frame_before(code.data(), code.data() + 8) == nullptr);
  // A frame too large for an immediate: subu sp, sp, at.
  const std::vector<std::uint32_t> large{0x03a1e823, 0xafbf001c};
  CHECK(rules::mips_rule(large.data(), large.data() + 2).cfa == FrameRule::Cfa::none);
}

// .eh_frame_hdr with one entry, a CIE at 24 and an FDE at 48 for [0x100, 0x180), as compilers write
// them.
std::vector<std::uint8_t> small_tables() {
  std::vector<std::uint8_t> bytes{
      0x01, 0x1b, 0x03, 0x3b, 20, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0,
      // length, id, version, "zR", factors 1 and -8, column 16, pcrel sdata4; CFA = r7 + 8
      20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
      // length, CIE, begin, size; advance 1, CFA offset 16, r6 at CFA - 16, advance 3, CFA = r6
      28, 0, 0, 0, 28, 0, 0, 0, 0xc8, 0, 0, 0, 0x80, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x86, 2, 0x43,
      0x0d, 6, 0x0a, 0x0b, 0, 0, 0, 0, 0};
  bytes.resize(256);
  return bytes;
}

TEST_CASE("frame rules: damaged tables end in no rule or in any, and nothing outside is read") {
  const std::vector<std::uint8_t> good = small_tables();
  const rules::FrameRegisters registers{.sp = 7, .fp = 6};
  std::mt19937 random(3);
  std::size_t found = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::uint8_t> bytes = good;
    for (int damage = round == 0 ? 0 : 1 + round % 3; damage != 0; --damage) {
      bytes[random() % 96] = static_cast<std::uint8_t>(random());
    }
    const rules::ByteSpan mapped{reinterpret_cast<const std::byte*>(bytes.data()), kBase,
                                 bytes.size()};
    rules::WholeDescription description;
    if (find_description({.mapped = mapped, .header = kBase}, kBase + 0x104, description)) {
      ++found;
      const FrameRule rule = rule_at(description, registers, kBase + 0x104);
      CHECK((round != 0 || rule == FrameRule{.cfa = FrameRule::Cfa::from_fp,
                                             .ret = FrameRule::Return::stored,
                                             .fp = FrameRule::Fp::stored,
                                             .cfa_offset = 16,
                                             .return_slot = -8,
                                             .fp_slot = -16}));
    }
    CHECK((round != 0 || found == 1));
  }
  CHECK(found > kRounds / 4);
  CHECK(found < kRounds);
}

TEST_CASE("ARM's index: damaged words end in no caller or in any") {
  const std::vector<std::uint32_t> good{distance(0, 0x8000), 0x8001a8b0,
                                        distance(2, 0x8100), distance(3, kBase + 24),
                                        distance(4, 0x8200), distance(5, kBase + 28),
                                        0x8001a8b0,          0x8101b10f,
                                        0xb0b0b0b0};
  std::mt19937 random(5);
  std::size_t found = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::uint32_t> words = good;
    for (int damage = 1 + round % 3; damage != 0; --damage) {
      words[random() % words.size()] ^= static_cast<std::uint32_t>(random() % 256) << random() % 25;
    }
    ArmInstructions instructions;
    if (find_instructions(index_in(words, 3), 0x8000 + random() % 0x300, instructions)) {
      ++found;
      ArmRegisters registers = registers_at(0x1000);
      static_cast<void>(unwind(instructions, read_itself, registers));
    }
  }
  CHECK(found > kRounds / 4);
  CHECK(found < kRounds);
}

}  // namespace whocall::test
