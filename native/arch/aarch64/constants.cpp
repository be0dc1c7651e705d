#include "arch/aarch64/constants.h"

#include <algorithm>
#include <array>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/fields.h"
#include "base/interrupt.h"

namespace whocall::aarch64 {
namespace {

constexpr std::uint64_t kWidth = 4;

// What pages, and addresses in them, registers hold, as far as the code goes on straight: compilers
// count from one constant to others (-fsection-anchors).
class Pages {
 public:
  [[nodiscard]] std::optional<Address> at(Register number) const { return pages_.at(number); }
  void put(Register number, Address page) { pages_.at(number) = page; }

  // What else the instruction does to registers.
  void forget(const Instruction& instruction) {
    using Flow = Instruction::Flow;
    for (const Effect& effect : instruction.list()) {
      const bool stores = effect.kind == Effect::Kind::store ||
                          effect.kind == Effect::Kind::store_other ||
                          effect.kind == Effect::Kind::compare;
      if (!stores && effect.destination < pages_.size()) {
        pages_.at(effect.destination).reset();
      }
    }
    if (instruction.flow == Flow::call) {
      std::fill(pages_.begin(), pages_.begin() + kFirstPreserved, std::nullopt);
    } else if (instruction.flow != Flow::next && instruction.flow != Flow::branch) {
      pages_.fill(std::nullopt);
    }
  }

 private:
  static constexpr Register kFirstPreserved = 19;
  std::array<std::optional<Address>, 32> pages_{};
};

// ldr, str and their kin with an offset that counts in words of their size.
std::optional<std::uint64_t> unsigned_offset(std::uint32_t word) {
  if (!is(word, 0x3b000000, 0x39000000)) {
    return std::nullopt;
  }
  const bool vector = bits(word, 26, 1) != 0;
  const std::uint32_t scale = bits(word, 30, 2) | (vector ? bits(word, 23, 1) << 2U : 0);
  return std::uint64_t{bits(word, 10, 12)} << scale;
}

// Calls named(at, value, destination) for each address that an instruction of `code` takes, and
// read(value) for each that one reads or writes.
template <typename Named, typename Read>
void for_each_address(ByteView code, Address address, const Named& named, const Read& read) {
  Decoder decoder;
  Pages pages;
  for (std::uint64_t at = (kWidth - address % kWidth) % kWidth; at + kWidth <= code.size();
       at += kWidth) {
    check_interrupt_at(at / kWidth, kManyEntries);
    const std::uint32_t word = word_at(code, at).value_or(0);
    const Address here = address + at;
    const auto page = pages.at(rn(word));
    const auto offset = page ? unsigned_offset(word) : std::nullopt;
    const auto taken = is_adr(word)                     ? std::optional(adr_value(word, here))
                       : page && is_add_immediate(word) ? std::optional(*page + add_immediate(word))
                                                        : std::nullopt;
    if (taken) {
      named(here, *taken, rd(word));
    } else if (offset) {
      read(*page + *offset);
    }
    if (const auto instruction = decoder.decode(code.from(at), here)) {
      pages.forget(*instruction);
    }
    if (taken || is_adrp(word)) {
      pages.put(rd(word), taken.value_or(adr_value(word, here)));
    }
  }
}

constexpr auto kIgnored = [](auto...) {};

}  // namespace

void append_constant_addresses(ByteView code, Address address, const GlobalTable& /*got*/,
                               bool /*fixed*/, AddressRange wanted,
                               std::vector<ConstantAddress>& found) {
  for_each_address(
      code, address,
      [&](Address at, Address value, Register destination) {
        if (wanted.contains(value)) {
          found.push_back({.at = at, .value = value, .destination = destination});
        }
      },
      kIgnored);
}

void append_named_addresses(ByteView code, Address address, const GlobalTable& /*got*/,
                            bool /*fixed*/, AddressRange wanted, std::vector<Address>& found) {
  const auto put = [&](Address value) {
    if (wanted.contains(value)) {
      found.push_back(value);
    }
  };
  for_each_address(
      code, address, [&](Address, Address value, Register) { put(value); }, put);
}

void append_taken_code(ByteView code, Address address, std::vector<Address>& found) {
  for_each_address(
      code, address,
      [&](Address, Address value, Register) {
        if (value - address < code.size() && value % kWidth == 0) {
          found.push_back(value);
        }
      },
      kIgnored);
}

}  // namespace whocall::aarch64
