#include "arch/arm/tables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "arch/arm/fields.h"

namespace whocall::arm {
namespace {

constexpr std::uint64_t kBefore = 32;  // bytes before a jump in which its index is compared

bool is_byte_or_half_jump(std::uint32_t first, std::uint32_t second) {
  return first == 0xe8df && is(second, 0xffe0, 0xf000);  // tbb, tbh [pc, ...]
}

// An entry of the table behind tbb or tbh, in half words.
std::optional<std::uint32_t> distance_at(ByteView table, std::uint64_t at, std::uint64_t width,
                                         Endian data) {
  if (width == 2) {
    return data_half_at(table, at, data);
  }
  const auto byte = table.read<std::uint8_t>(at);
  return byte ? std::optional(std::uint32_t{*byte}) : std::nullopt;
}

// A jump with what stands before it.
class Jump {
 public:
  Jump(const CodeReader& around, Address address, bool thumb, Endian data)
      : around_(around), address_(address), thumb_(thumb), data_(data) {
    std::array<std::byte, kBefore + 4> bytes{};
    if (around_ && address_ >= kBefore && around_(address_ - kBefore, bytes) == bytes.size()) {
      bytes_.assign(bytes.begin(), bytes.end());
    }
  }

  [[nodiscard]] CaseTable table() const {
    if (bytes_.empty()) {
      return {};
    }
    if (!thumb_) {
      return by_jumps(word());
    }
    return is_byte_or_half_jump(half(0), half(2)) ? by_distances(half(2)) : by_words(half(0));
  }

 private:
  [[nodiscard]] ByteView code() const { return {bytes_, Endian::little}; }
  // `at`: bytes from the jump, negative before it.
  [[nodiscard]] std::uint32_t half(std::int64_t at) const {
    return half_at(code(), kBefore + static_cast<std::uint64_t>(at)).value_or(0);
  }
  [[nodiscard]] std::uint32_t word(std::int64_t at = 0) const {
    return word_at(code(), kBefore + static_cast<std::uint64_t>(at)).value_or(0);
  }

  // How many cases a comparison of the index with the last one tells of.
  [[nodiscard]] std::optional<std::uint32_t> cases(Register index) const {
    const std::int64_t width = thumb_ ? 2 : 4;
    for (std::int64_t at = -width; at >= -static_cast<std::int64_t>(kBefore); at -= width) {
      const bool narrow = thumb_ && is(half(at), 0xf800, 0x2800) && number(half(at), 8, 3) == index;
      const bool wide = thumb_ && half(at) == (0xf1b0U | index) && is(half(at + 2), 0xff00, 0x0f00);
      const bool a32 =
          !thumb_ && is(word(at), 0x0ff0ff00, 0x03500000) && number(word(at), 16) == index;
      if (narrow || wide || a32) {
        return bits(wide ? half(at + 2) : a32 ? word(at) : half(at), 0, 8) + 1;
      }
    }
    return std::nullopt;
  }

  // tbb, tbh: bytes or half words, each the distance in half words.
  [[nodiscard]] CaseTable by_distances(std::uint32_t operands) const {
    const auto count = cases(number(operands, 0));
    const std::uint32_t width = bit(operands, 4) ? 2 : 1;
    const Address first = address_ + 4;
    const auto bytes = count ? read(first, *count * width) : std::nullopt;
    if (!bytes) {
      return {};
    }
    CaseTable table{{first, first + (Address{*count} * width + 1) / 2 * 2}};
    for (std::uint64_t at = 0; at < *count * width; at += width) {
      const auto halves = distance_at(ByteView(*bytes, data_), at, width, data_);
      table.targets.push_back(first + Address{2} * halves.value_or(0));
    }
    return table;
  }

  // adr rb, table; ldr rx, [rb, ri, lsl #2]; add rb, rx; bx rb: words, each the distance from the
  // table on, with the bit of the mode.
  [[nodiscard]] CaseTable by_words(std::uint32_t jump) const {
    const auto base = number(jump, 3);
    const std::uint32_t add = half(-2);
    const auto sum = static_cast<Register>(bits(add, 0, 3) | bits(add, 7, 1) << 3U);
    const Register entry = number(add, 3);
    const std::uint32_t load = half(-4);
    const bool follows = is(jump, 0xff87, 0x4700) && is(add, 0xff00, 0x4400) && sum == base &&
                         half(-6) == (0xf850U | base) && is(load, 0x0ff0, 0x0020) &&
                         number(load, 12) == entry;
    const auto first = follows ? named_by_adr(base) : std::nullopt;
    const auto count = first ? cases(number(load, 0)) : std::nullopt;
    const auto bytes = count ? read(*first, *count * 4) : std::nullopt;
    if (!bytes) {
      return {};
    }
    CaseTable table{{*first, *first + Address{4} * *count}};
    for (std::uint64_t at = 0; at < *count * 4; at += 4) {
      const std::uint32_t distance = data_word_at(ByteView(*bytes, data_), at, data_).value_or(0);
      table.targets.push_back(wrapped(*first + distance) & ~Address{1});
    }
    return table;
  }

  // Of the instruction before the load, 6 bytes before the jump.
  [[nodiscard]] std::optional<Address> named_by_adr(Register base) const {
    if (is(half(-8), 0xff00, 0xa000U | base << 8U) && base < 8) {
      return data_base(address_ - 8, true) + Address{bits(half(-8), 0, 8)} * 4;
    }
    if (half(-10) == 0xf20f && is(half(-8), 0x0f00, base << 8U)) {
      return data_base(address_ - 10, true) + (bits(half(-8), 0, 8) | bits(half(-8), 12, 3) << 8U);
    }
    return std::nullopt;
  }

  // add pc, pc, ri, lsl #2: as many jumps stand behind it, and before them one for all other cases.
  [[nodiscard]] CaseTable by_jumps(std::uint32_t jump) const {
    const auto count = is(jump, 0x0ffffff0, 0x008ff100) ? cases(number(jump, 0)) : std::nullopt;
    CaseTable table;
    for (std::uint32_t i = 0; count && i <= *count; ++i) {
      table.targets.push_back(address_ + 4 + Address{4} * i);
    }
    return table;
  }

  [[nodiscard]] std::optional<std::vector<std::byte>> read(Address from, std::uint32_t size) const {
    std::vector<std::byte> bytes(size + size % 2);
    return around_(from, bytes) == bytes.size() ? std::optional(bytes) : std::nullopt;
  }

  const CodeReader& around_;
  Address address_;
  bool thumb_;
  Endian data_;
  std::vector<std::byte> bytes_{};  // from kBefore before the jump on
};

}  // namespace

CaseTable case_table(const CodeReader& around, Address address, bool thumb, Endian data) {
  return Jump(around, address, thumb, data).table();
}

// Folklore. Situation: bytes behind a jump are distances to the cases of a switch. Example: tbb
// [pc, r3] of T32 is followed by a table of bytes. Remedy: it ends where the nearest case begins,
// at the latest.
std::uint64_t length_by_cases(ByteView code, Endian data) {
  constexpr std::uint64_t kLongest = 4096;  // bytes
  const std::uint32_t operands = half_at(code, 2).value_or(0);
  if (!is_byte_or_half_jump(half_at(code, 0).value_or(0), operands)) {
    return 0;
  }
  const std::uint64_t width = bit(operands, 4) ? 2 : 1;
  std::uint64_t nearest = kLongest;
  for (std::uint64_t at = 0; at + width <= nearest; at += width) {
    const auto halves = distance_at(code, 4 + at, width, data);
    if (!halves) {
      return 0;
    }
    const std::uint64_t distance = std::uint64_t{2} * *halves;
    if (distance <= at) {
      break;  // no case begins inside the table: a byte that fills it up
    }
    nearest = std::min(nearest, distance);
  }
  return nearest < kLongest ? nearest : 0;
}

}  // namespace whocall::arm
