#include "rules/arm_index.h"

namespace whocall::rules {
namespace {

constexpr std::uint64_t kEntry = 8;  // bytes
constexpr std::uint32_t kNothingKnown = 1;
constexpr std::uint32_t kInline = 0x80000000;

std::uint32_t word_at(const ArmIndex& index, std::uint64_t address, bool& ok) {
  ByteCursor cursor(index.mapped.part(address, sizeof(std::uint32_t)));
  const auto word = cursor.take<std::uint32_t>();
  ok = ok && cursor.ok();
  return word;
}

// A distance of 31 bits from where it stands.
std::uint64_t target(std::uint64_t place, std::uint32_t word) {
  const auto distance = static_cast<std::int32_t>(word << 1U) / 2;
  return (place + static_cast<std::uint64_t>(std::int64_t{distance})) & 0xffffffffU;
}

void put(ArmInstructions& found, std::uint32_t word, unsigned first, bool& ok) {
  for (unsigned i = first; i < 4; ++i) {
    if (found.count == found.bytes.size()) {
      ok = false;
      return;
    }
    found.bytes.data()[found.count++] = static_cast<std::uint8_t>(word >> (24U - 8 * i));
  }
}

// A description in the compact form, or behind the address of a personality routine.
bool read_table(const ArmIndex& index, std::uint64_t place, std::uint32_t word,
                ArmInstructions& found) {
  bool ok = true;
  if ((word & kInline) == 0) {  // a personality routine's: the next word counts and begins
    place += 4;
    word = word_at(index, place, ok);
    const std::uint32_t more = word >> 24U;
    put(found, word, 1, ok);
    for (std::uint32_t i = 0; ok && i < more; ++i) {
      put(found, word_at(index, place + 4 + 4 * i, ok), 0, ok);
    }
    return ok;
  }
  const std::uint32_t form = word >> 24U & 0x7fU;
  if (form == 0) {
    put(found, word, 1, ok);
    return ok;
  }
  if (form > 2) {
    return false;
  }
  const std::uint32_t more = word >> 16U & 0xffU;
  put(found, word, 2, ok);
  for (std::uint32_t i = 0; ok && i < more; ++i) {
    put(found, word_at(index, place + 4 + 4 * i, ok), 0, ok);
  }
  return ok;
}

}  // namespace

bool find_instructions(const ArmIndex& index, std::uint64_t address, ArmInstructions& found) {
  bool ok = true;
  std::uint64_t low = 0;
  std::uint64_t high = index.entries;
  while (ok && low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::uint64_t place = index.begin + middle * kEntry;
    if (target(place, word_at(index, place, ok)) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (!ok || low == 0) {
    return false;
  }
  const std::uint64_t place = index.begin + (low - 1) * kEntry + 4;
  const std::uint32_t word = word_at(index, place, ok);
  found.count = 0;
  if (!ok || word == kNothingKnown) {
    return false;
  }
  if ((word & kInline) != 0) {
    return read_table(index, place, word, found);
  }
  const std::uint64_t table = target(place, word);
  const std::uint32_t first = word_at(index, table, ok);
  return ok && read_table(index, table, first, found);
}

namespace arm_index {
namespace {

using Kind = Effect::Kind;

Effect moved(std::uint32_t bytes) { return {Kind::move, static_cast<std::int32_t>(bytes), 0}; }

// 1011xxxx
Effect decode_b(const ArmInstructions& instructions, std::uint32_t& at, std::uint32_t code) {
  const auto next = [&] {
    return at < instructions.count ? std::uint32_t{instructions.bytes.data()[at++]} : 0U;
  };
  switch (code) {
    case 0xb0:
      return {Kind::finish, 0, 0};
    case 0xb1: {
      const std::uint32_t mask = next();
      return mask == 0 || mask > 15 ? Effect{} : Effect{Kind::pop, 0, mask};
    }
    case 0xb2: {
      std::uint32_t value = 0;
      std::uint32_t byte = 0;
      for (unsigned shift = 0; shift < 28; shift += 7) {
        byte = next();
        value |= (byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0) {
          return moved(0x204 + (value << 2U));
        }
      }
      return {};
    }
    case 0xb3:  // double registers, as FSTMFDX stores them
      return moved(8 * ((next() & 15U) + 1) + 4);
    case 0xb4:  // the code that authenticates the return address
      return moved(4);
    case 0xb5:
      return {Kind::skip, 0, 0};
    default:
      return code >= 0xb8 ? moved(8 * ((code & 7U) + 1) + 4) : Effect{};
  }
}

// 11xxxxxx
Effect decode_c(const ArmInstructions& instructions, std::uint32_t& at, std::uint32_t code) {
  const auto next = [&] {
    return at < instructions.count ? std::uint32_t{instructions.bytes.data()[at++]} : 0U;
  };
  if (code == 0xc7) {
    const std::uint32_t mask = next();
    return mask == 0 || mask > 15 ? Effect{}
                                  : moved(4 * static_cast<std::uint32_t>(__builtin_popcount(mask)));
  }
  if (code == 0xc6 || code == 0xc8 || code == 0xc9) {
    return moved(8 * ((next() & 15U) + 1));
  }
  if (code < 0xc6 || (code >= 0xd0 && code < 0xd8)) {
    return moved(8 * ((code & 7U) + 1));
  }
  return {};
}

}  // namespace

Effect decode(const ArmInstructions& instructions, std::uint32_t& at) {
  const std::uint32_t code = instructions.bytes.data()[at++];
  const std::uint32_t low = code & 0x3fU;
  if (code < 0x40) {
    return moved((low << 2U) + 4);
  }
  if (code < 0x80) {
    return {Kind::move, -static_cast<std::int32_t>((low << 2U) + 4), 0};
  }
  if (code < 0x90) {
    const std::uint32_t second = at < instructions.count ? instructions.bytes.data()[at++] : 0U;
    const std::uint32_t mask = ((code & 15U) << 8U | second) << 4U;
    return mask == 0 ? Effect{} : Effect{Kind::pop, 0, mask};
  }
  if (code < 0xa0) {
    const std::uint32_t number = code & 15U;
    return number == kArmSp || number == kArmPc
               ? Effect{}
               : Effect{Kind::set_sp, static_cast<std::int32_t>(number), 0};
  }
  if (code < 0xb0) {
    const std::uint32_t mask = ((2U << (code & 7U)) - 1) << 4U;
    return {Kind::pop, 0, mask | ((code & 8U) != 0 ? 1U << kArmLink : 0U)};
  }
  return code < 0xc0 ? decode_b(instructions, at, code) : decode_c(instructions, at, code);
}

}  // namespace arm_index
}  // namespace whocall::rules
