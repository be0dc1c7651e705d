// The addresses that code names, where instructions have one or two widths and an address is put
// together by several: a class `Addresses` of the instruction set follows those, and answers
// take(code, here) and forget(instruction).
#pragma once

#include <optional>
#include <vector>

#include "arch/code_model.h"
#include "arch/instruction.h"
#include "base/interrupt.h"

namespace whocall {

// `Width`: of the shortest instruction, bytes.
template <class Decoder, class Addresses, std::uint8_t Width>
struct NamedAddresses {
  // Each answers the question of CodeModel by the same name.
  static void append_constant_addresses(ByteView code, Address address, const GlobalTable& got,
                                        bool fixed, AddressRange wanted,
                                        std::vector<ConstantAddress>& found) {
    for_each(code, address, Addresses(fixed, got.pointer), [&](Address at, const auto& named) {
      if (named.destination && wanted.contains(named.address)) {
        found.push_back({.at = at, .value = named.address, .destination = named.destination});
      }
    });
  }
  static void append_named_addresses(ByteView code, Address address, const GlobalTable& got,
                                     bool fixed, AddressRange wanted, std::vector<Address>& found) {
    for_each(code, address, Addresses(fixed, got.pointer), [&](Address, const auto& named) {
      if (wanted.contains(named.address)) {
        found.push_back(named.address);
      }
    });
  }
  // Appends the addresses inside `code` that its instructions take.
  static void append_taken_code(ByteView code, Address address, std::vector<Address>& found) {
    for_each(code, address, Addresses(false), [&](Address, const auto& named) {
      if (named.destination && named.address - address < code.size() &&
          named.address % Width == 0) {
        found.push_back(named.address);
      }
    });
  }

 private:
  template <typename Visit>
  static void for_each(ByteView code, Address address, Addresses known, const Visit& visit) {
    Decoder decoder;
    std::size_t asked = 0;
    for (std::uint64_t at = (Width - address % Width) % Width; at + Width <= code.size();) {
      check_interrupt_at(asked++, kManyEntries);
      const Address here = address + at;
      if (const auto named = known.take(code.from(at), here)) {
        visit(here, *named);
      }
      const auto instruction = decoder.decode(code.from(at), here);
      if (instruction) {
        known.forget(*instruction);
      }
      at += instruction ? instruction->size : Width;
    }
  }
};

}  // namespace whocall
