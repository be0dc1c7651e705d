// Exception tables of ARM, entry by entry.
#pragma once

#include <vector>

#include "base_bytes.h"
#include "object/exidx.h"

namespace whocall::test {

// `to` as seen from `from`, in 31 bits.
inline std::uint32_t prel31(Address to, Address from) { return (to - from) & 0x7fffffffU; }

class ExceptionTable {
 public:
  static constexpr std::uint32_t kCannotUnwind = 1;

  // The index is to lie at `address`.
  explicit ExceptionTable(Address address, Endian endian = Endian::little)
      : address_(address), bytes_(endian) {}

  ExceptionTable& entry(Address function, std::uint32_t word) {
    bytes_.u32(prel31(function, here()));
    bytes_.u32(word);
    return *this;
  }
  ExceptionTable& entry_apart(Address function, Address table) {
    return entry(function, prel31(table, here() + 4));
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  [[nodiscard]] Address here() const { return address_ + bytes_.size(); }

  Address address_;
  Bytes bytes_;
};

}  // namespace whocall::test
