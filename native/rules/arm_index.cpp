#include "rules/arm_index.h"

namespace whocall::rules {
namespace {

constexpr std::uint64_t kEntry = 8;                         // bytes
constexpr std::int64_t kFarthest = std::int64_t{1} << 31U;  // bytes: all of the address space

using Kind = ArmEffect::Kind;

ArmEffect moved(std::int64_t bytes) { return {Kind::move, bytes, 0}; }

ArmEffect doubles(unsigned above_one, unsigned more) {
  return moved(8 * (std::int64_t{above_one} + 1) + more);
}

// None: what is popped then is refused.
ArmEffect popped(std::uint32_t mask) {
  return mask == 0 ? ArmEffect{} : ArmEffect{Kind::pop, 0, mask};
}

ArmEffect move_far(ArmInstructions& instructions) {
  constexpr unsigned kLongest = 28;  // bits: what is more leaves the address space
  std::uint64_t value = 0;
  std::uint8_t byte = 0;
  for (unsigned shift = 0; shift <= kLongest && instructions.take(byte); shift += 7) {
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) {
      const auto bytes = static_cast<std::int64_t>(0x204 + (value << 2U));
      return bytes > kFarthest ? ArmEffect{} : moved(bytes);
    }
  }
  return {};
}

// 1011xxxx
ArmEffect decode_other(ArmInstructions& instructions, unsigned code) {
  std::uint8_t byte = 0;
  switch (code) {
    case 0xb0:
      return {Kind::finish, 0, 0};
    case 0xb1:
      return instructions.take(byte) && byte < 0x10 ? popped(byte) : ArmEffect{};
    case 0xb2:
      return move_far(instructions);
    case 0xb3:  // FSTMFDX left a word more
      return instructions.take(byte) ? doubles(byte & 15U, 4) : ArmEffect{};
    case 0xb4:  // the code that authenticates the return address
      return moved(4);
    case 0xb5:  // which belongs to this stack pointer
      return {Kind::skip, 0, 0};
    default:  // as b3
      return code >= 0xb8 ? doubles(code & 7U, 4) : ArmEffect{};
  }
}

// 11xxxxxx: registers of coprocessors, of which only their sizes count.
ArmEffect decode_wide(ArmInstructions& instructions, unsigned code) {
  std::uint8_t byte = 0;
  switch (code) {
    case 0xc6:
    case 0xc8:
    case 0xc9:
      return instructions.take(byte) ? doubles(byte & 15U, 0) : ArmEffect{};
    case 0xc7:
      return instructions.take(byte) && byte != 0 && byte < 0x10
                 ? moved(4 * std::int64_t{std::popcount(byte)})
                 : ArmEffect{};
    default:
      return code < 0xc6 || (code >= 0xd0 && code < 0xd8) ? doubles(code & 7U, 0) : ArmEffect{};
  }
}

}  // namespace

ArmEffect decode_arm(ArmInstructions& instructions) {
  std::uint8_t code = 0;
  if (!instructions.take(code)) {
    return {Kind::finish, 0, 0};
  }
  const std::int64_t words = 4 * std::int64_t{code & 0x3fU} + 4;
  switch (code >> 4U) {
    case 0x0:
    case 0x1:
    case 0x2:
    case 0x3:
      return moved(words);
    case 0x4:
    case 0x5:
    case 0x6:
    case 0x7:
      return moved(-words);
    case 0x8: {
      std::uint8_t low = 0;
      return instructions.take(low) ? popped((code & 15U) << 12U | std::uint32_t{low} << 4U)
                                    : ArmEffect{};
    }
    case 0x9: {
      const std::uint32_t number = code & 15U;
      return number == kArmSp || number == kArmPc ? ArmEffect{}
                                                  : ArmEffect{Kind::set_sp, number, 0};
    }
    case 0xa:
      return popped((((2U << (code & 7U)) - 1) << 4U) | ((code & 8U) != 0 ? 1U << kArmLink : 0U));
    case 0xb:
      return decode_other(instructions, code);
    default:
      return decode_wide(instructions, code);
  }
}

namespace arm_index {

// What belongs to a routine of a language's own has that routine's address before it, and then, by
// the convention of all compilers, a count of further words and three bytes of instructions. EHABI
// 7.3: other tables begin with bit 31, zeros and the number of the routine that reads them. Routine
// 0 has three bytes there; 1 and 2 have a count of further words and two bytes.
ArmEntry read_table(const ByteSpan& table) {
  ByteCursor cursor(table);
  ByteSpan words = cursor.rest();
  auto word = cursor.take<std::uint32_t>();
  const bool compact = (word & kCompact) != 0;
  if (!compact) {
    words = cursor.rest();
    word = cursor.take<std::uint32_t>();
  }
  const std::uint32_t routine = word >> 24U & 0x7fU;
  const std::uint32_t before = compact && routine != 0 ? 2 : 1;
  const std::uint32_t counted = routine == 0 ? 0 : word >> 16U & 0xffU;
  const std::uint32_t more = compact ? counted : word >> 24U;
  cursor.skip(std::uint64_t{more} * 4);
  if (!cursor.ok() || (compact && routine > 2)) {
    return {};
  }
  return {ArmEntry::Kind::apart, {words, before, 4 + more * 4}, compact ? 0 : cursor.place()};
}

}  // namespace arm_index

bool find_instructions(const ArmIndex& index, std::uint64_t address, ArmInstructions& found) {
  const ByteSpan table = index.mapped.part(index.begin, index.entries * kEntry);
  if (index.entries == 0 || table.size / kEntry != index.entries) {
    return false;
  }
  std::uint64_t low = 0;
  std::uint64_t high = index.entries;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    ByteCursor entry(table, middle * kEntry);
    const std::uint64_t place = entry.address();
    const std::uint64_t start = arm_target(entry.take<std::uint32_t>(), place);
    if ((start & ~std::uint64_t{1}) <= address) {  // the bit says T32 code
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) {
    return false;
  }
  const ArmEntry entry = read_arm_entry(
      table.part(index.begin + (low - 1) * kEntry + 4, 4),
      [&](std::uint64_t apart) { return index.mapped.part(apart, ~std::uint64_t{0}); });
  found = entry.instructions;
  return entry.kind == ArmEntry::Kind::inlined || entry.kind == ArmEntry::Kind::apart;
}

}  // namespace whocall::rules
