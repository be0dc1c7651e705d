#include "arch/loongarch/constants.h"

#include "arch/loongarch/addresses.h"
#include "arch/loongarch/decoder.h"
#include "arch/loongarch/fields.h"
#include "base/interrupt.h"

namespace whocall::loongarch {
namespace {

// Calls named(at, value, destination) for each address that an instruction of `code` takes, and
// read(value) for each that one reads or writes.
template <typename Named, typename Read>
void for_each_named_address(ByteView code, Address address, bool fixed, const Named& named,
                            const Read& read) {
  Decoder decoder;
  Addresses known(fixed);
  std::size_t asked = 0;
  for (std::uint64_t at = (kWidth - address % kWidth) % kWidth; at + kWidth <= code.size();) {
    check_interrupt_at(asked++, kManyEntries);
    const Address here = address + at;
    if (const auto found = known.take(word_at(code, at).value_or(0), here)) {
      if (found->destination) {
        named(here, found->address, *found->destination);
      } else {
        read(found->address);
      }
    }
    const auto instruction = decoder.decode(code.from(at), here);
    if (instruction) {
      known.forget(*instruction);
    }
    at += instruction ? instruction->size : kWidth;
  }
}

constexpr auto kNobody = [](auto...) {};

}  // namespace

void append_constant_addresses(ByteView code, Address address, const GlobalTable& /*got*/,
                               bool fixed, AddressRange wanted,
                               std::vector<ConstantAddress>& found) {
  for_each_named_address(
      code, address, fixed,
      [&](Address at, Address value, Register destination) {
        if (wanted.contains(value)) {
          found.push_back({.at = at, .value = value, .destination = destination});
        }
      },
      kNobody);
}

void append_named_addresses(ByteView code, Address address, const GlobalTable& /*got*/, bool fixed,
                            AddressRange wanted, std::vector<Address>& found) {
  const auto put = [&](Address value) {
    if (wanted.contains(value)) {
      found.push_back(value);
    }
  };
  for_each_named_address(
      code, address, fixed, [&](Address, Address value, Register) { put(value); }, put);
}

void append_taken_code(ByteView code, Address address, std::vector<Address>& found) {
  for_each_named_address(
      code, address, false,
      [&](Address, Address value, Register) {
        if (value - address < code.size() && value % kWidth == 0) {
          found.push_back(value);
        }
      },
      kNobody);
}

}  // namespace whocall::loongarch
