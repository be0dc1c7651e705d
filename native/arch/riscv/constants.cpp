#include "arch/riscv/constants.h"

#include "arch/riscv/addresses.h"
#include "arch/riscv/decoder.h"
#include "arch/riscv/fields.h"
#include "base/interrupt.h"

namespace whocall::riscv {
namespace {

// Calls named(at, value, destination) for each address that an instruction of `code` takes, and
// read(value) for each that one reads or writes.
template <typename Named, typename Read>
void for_each_named_address(ByteView code, Address address, const GlobalTable& got, bool fixed,
                            const Named& named, const Read& read) {
  Decoder decoder;
  Addresses known(fixed, got.pointer);
  std::size_t asked = 0;
  for (std::uint64_t at = address % kCompressed; at + kCompressed <= code.size();) {
    check_interrupt_at(asked++, kManyEntries);
    const Address here = address + at;
    if (const auto found = known.take(code.from(at), here)) {
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
    at += instruction ? instruction->size : kCompressed;
  }
}

constexpr auto kNobody = [](auto...) {};

}  // namespace

void append_constant_addresses(ByteView code, Address address, const GlobalTable& got, bool fixed,
                               AddressRange wanted, std::vector<ConstantAddress>& found) {
  for_each_named_address(
      code, address, got, fixed,
      [&](Address at, Address value, Register destination) {
        if (wanted.contains(value)) {
          found.push_back({.at = at, .value = value, .destination = destination});
        }
      },
      kNobody);
}

void append_named_addresses(ByteView code, Address address, const GlobalTable& got, bool fixed,
                            AddressRange wanted, std::vector<Address>& found) {
  const auto put = [&](Address value) {
    if (wanted.contains(value)) {
      found.push_back(value);
    }
  };
  for_each_named_address(
      code, address, got, fixed, [&](Address, Address value, Register) { put(value); }, put);
}

void append_taken_code(ByteView code, Address address, std::vector<Address>& found) {
  for_each_named_address(
      code, address, {}, false,
      [&](Address, Address value, Register) {
        if (value - address < code.size() && value % kCompressed == 0) {
          found.push_back(value);
        }
      },
      kNobody);
}

}  // namespace whocall::riscv
