// Addresses and half-open ranges of them.
#pragma once

#include <cstdint>

namespace whocall {

// A byte address. Whether it is a link address (as written in a file) or a runtime address
// (as seen by the process) is said by the name of the variable or parameter that holds it.
using Address = std::uint64_t;

// The bytes [begin, end). Never inclusive; empty when end <= begin.
struct AddressRange {
  Address begin = 0;
  Address end = 0;

  [[nodiscard]] constexpr bool contains(Address address) const {
    return address >= begin && address < end;
  }
  [[nodiscard]] constexpr bool empty() const { return end <= begin; }
  [[nodiscard]] constexpr std::uint64_t size() const { return empty() ? 0 : end - begin; }

  friend constexpr bool operator==(const AddressRange&, const AddressRange&) = default;
};

}  // namespace whocall
