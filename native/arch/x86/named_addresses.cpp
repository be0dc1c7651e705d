// Which addresses x86 instructions may name: in any operand, not only where they take them.
#include <cstring>

#include "arch/x86/code.h"
#include "arch/x86/opcode_filter.h"

namespace whocall::x86 {
namespace {

class Names {
 public:
  Names(ByteView code, Address address, AddressRange wanted, std::vector<Address>& found)
      : code_(code),
        bytes_(reinterpret_cast<const std::uint8_t*>(code.bytes().data())),
        address_(address),
        wanted_(wanted),
        found_(found) {}

  void run_64() {
    std::size_t at = 0;
    for (; at + kLane + kWord < code_.size(); at += kLane) {
      Lane byte;
      std::memcpy(&byte, bytes_ + at, kLane);
      const Lane operands = Lane((byte & 0xc7) == 0x05);  // ModRM: distance(%rip)
      for_each_set(operands, [&](std::size_t index, auto) { behind_modrm(at + index + 1); });
    }
    for (; at + 1 + kWord <= code_.size(); ++at) {
      if ((bytes_[at] & 0xc7U) == 0x05) {
        behind_modrm(at + 1);
      }
    }
  }

  // At fixed addresses any operand may hold one, ModRM or not.
  void run_fixed() {
    for (std::size_t at = 1; at + kWord <= code_.size(); ++at) {
      put(static_cast<std::uint32_t>(signed_word(at)));
    }
  }

  // distance(%base) and distance(%base,%index,scale), where the base holds the GOT's address.
  void run_32(Address data_base) {
    for (std::size_t at = 2; data_base != 0 && at + kWord <= code_.size(); ++at) {
      const std::uint8_t before = bytes_[at - 1];
      const bool modrm = (before & 0xc0U) == 0x80 && (before & 7U) != 4;
      const bool branch = bytes_[at - 2] == 0x0f && (before & 0xf0U) == 0x80;
      if ((modrm && !branch) || (bytes_[at - 2] & 0xc7U) == 0x84) {
        put((data_base + static_cast<Address>(std::int64_t{signed_word(at)})) & 0xffffffff);
      }
    }
  }

 private:
  static constexpr std::size_t kWord = 4;

  void behind_modrm(std::size_t at) {
    put(address_ + at + kWord + static_cast<Address>(std::int64_t{signed_word(at)}));
  }

  void put(Address address) {
    if (wanted_.contains(address)) {
      found_.push_back(address);
    }
  }
  [[nodiscard]] std::int32_t signed_word(std::size_t at) const {
    std::int32_t word = 0;
    std::memcpy(&word, bytes_ + at, sizeof word);
    return word;
  }

  ByteView code_;
  const std::uint8_t* bytes_;
  Address address_;
  AddressRange wanted_;
  std::vector<Address>& found_;
};

}  // namespace

void append_named_addresses_64(ByteView code, Address address, const GlobalTable& /*got*/,
                               bool fixed, AddressRange wanted, std::vector<Address>& found) {
  Names names(code, address, wanted, found);
  names.run_64();
  if (fixed) {
    names.run_fixed();
  }
}
void append_named_addresses_32(ByteView code, Address address, const GlobalTable& got, bool fixed,
                               AddressRange wanted, std::vector<Address>& found) {
  Names names(code, address, wanted, found);
  names.run_32(got.address);
  if (fixed) {
    names.run_fixed();
  }
}

}  // namespace whocall::x86
