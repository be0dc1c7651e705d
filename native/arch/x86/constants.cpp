// How x86 code takes the addresses of constants.
#include <array>
#include <cstring>

#include "arch/x86/code.h"
#include "arch/x86/opcode_filter.h"

namespace whocall::x86 {
namespace {

// Position-independent code is linked at small addresses, which many numbers are equal to.
constexpr Address kLowestFixed = 0x10000;

// DWARF numbers by those of machine code.
constexpr std::array<Register, 16> kNumbers64 = {0, 2, 1,  3,  7,  6,  4,  5,
                                                 8, 9, 10, 11, 12, 13, 14, 15};

class Scanner {
 public:
  Scanner(ByteView code, Address address, Address data_base, AddressRange wanted, Dialect dialect,
          std::vector<ConstantAddress>& found)
      : code_(code),
        bytes_(reinterpret_cast<const std::uint8_t*>(code.bytes().data())),
        address_(address),
        data_base_(data_base),
        wanted_(wanted),
        dialect_(dialect),
        found_(found) {}

  void run_64() {
    if (wanted_.begin >= kLowestFixed) {
      for (std::size_t at = 0; at + kLongest64 <= code_.size(); ++at) {
        immediate_64(at);
        lea_64(at);
      }
      return;
    }
    std::size_t at = 0;
    for (; at + kLane < code_.size(); at += kLane) {
      Lane byte;
      Lane next;
      std::memcpy(&byte, bytes_ + at, kLane);
      std::memcpy(&next, bytes_ + at + 1, kLane);
      for_each_set(leas_of(byte, next), [&](std::size_t index, auto) { lea_64(at + index); });
    }
    for (; at < code_.size(); ++at) {
      lea_64(at);
    }
  }

  void run_32() {
    for (std::size_t at = 0; at + kLongest <= code_.size(); ++at) {
      const std::uint8_t lead = bytes_[at];
      if (lead == 0x8d) {
        near_data_base(at);
      } else if (wanted_.begin < kLowestFixed) {
        continue;
      } else if ((lead & 0xf8U) == 0xb8) {  // mov $imm32,%eax
        put(at, word(at + 1), Register{static_cast<Register>(lead & 7U)});
      } else if (lead == 0x68) {  // push $imm32
        put(at, word(at + 1), std::nullopt);
      } else if (lead == 0xc7 && bytes_[at + 2] == 0x24) {  // movl $imm32,offset(%esp)
        if (bytes_[at + 1] == 0x04) {
          put(at, word(at + 3), std::nullopt);
        } else if (bytes_[at + 1] == 0x44) {
          put(at, word(at + 4), std::nullopt, static_cast<std::int8_t>(bytes_[at + 3]));
        }
      }
    }
  }

 private:
  // Bytes of any of these instructions.
  static constexpr std::size_t kLongest = 8;
  static constexpr std::size_t kLongest64 = 7;

  // lea distance(%rip),%reg, of which the opcode stands at `opcode`, behind a prefix; addresses of
  // 4 bytes need that for the later registers only.
  void lea_64(std::size_t opcode) {
    if (opcode + kLongest64 > code_.size()) {
      return;
    }
    const std::uint8_t lead = opcode == 0 ? 0 : bytes_[opcode - 1];
    const std::uint8_t modrm = bytes_[opcode + 1];
    const bool wide = lead == 0x48 || lead == 0x4c;
    const bool later = lead == 0x4c || (dialect_ == Dialect::x32 && lead == 0x44);
    if ((wide || dialect_ == Dialect::x32) && bytes_[opcode] == 0x8d && (modrm & 0xc7U) == 0x05) {
      put(wide || later ? opcode - 1 : opcode, address_ + opcode + 6 + signed_word(opcode + 2),
          number_64((modrm >> 3U & 7U) | (later ? 8U : 0U)));
    }
  }

  // mov $imm32,%reg
  void immediate_64(std::size_t at) {
    const std::uint8_t lead = bytes_[at];
    if (lead == 0x48 && bytes_[at + 1] == 0xc7 && (bytes_[at + 2] & 0xf8U) == 0xc0) {
      put(at, word(at + 3), number_64(bytes_[at + 2] & 7U));
    } else if (lead == 0x41 && (bytes_[at + 1] & 0xf8U) == 0xb8) {  // %r8d
      put(at, word(at + 2), number_64(8 | (bytes_[at + 1] & 7U)));
    } else if ((lead & 0xf8U) == 0xb8) {  // %eax
      put(at, word(at + 1), number_64(lead & 7U));
    }
  }

  // lea distance(%base),%reg: the register holds the address of the GOT, if the sum is an address
  // of what is wanted.
  void near_data_base(std::size_t at) {
    const std::uint8_t modrm = bytes_[at + 1];
    if (data_base_ != 0 && (modrm & 0xc0U) == 0x80 && (modrm & 7U) != 4) {
      put(at, (data_base_ + word(at + 2)) & 0xffffffff,
          Register{static_cast<Register>(modrm >> 3U & 7U)});
    }
  }

  void put(std::size_t at, Address value, std::optional<Register> destination,
           std::int64_t offset = 0) {
    if (wanted_.contains(value)) {
      found_.push_back({address_ + at, value, destination, offset});
    }
  }

  static Register number_64(unsigned machine) { return kNumbers64.at(machine); }
  [[nodiscard]] Address word(std::size_t at) const {
    return code_.read<std::uint32_t>(at).value_or(0);
  }
  [[nodiscard]] Address signed_word(std::size_t at) const {
    const auto value = code_.read<std::uint32_t>(at).value_or(0);
    return static_cast<Address>(std::int64_t{static_cast<std::int32_t>(value)});
  }

  ByteView code_;
  const std::uint8_t* bytes_;
  Address address_;
  Address data_base_;
  AddressRange wanted_;
  Dialect dialect_;
  std::vector<ConstantAddress>& found_;
};

}  // namespace

void append_constant_addresses_64(ByteView code, Address address, const GlobalTable& got,
                                  bool /*fixed*/, AddressRange wanted,
                                  std::vector<ConstantAddress>& found) {
  Scanner(code, address, got.address, wanted, Dialect::x86_64, found).run_64();
}
void append_constant_addresses_x32(ByteView code, Address address, const GlobalTable& got,
                                   bool /*fixed*/, AddressRange wanted,
                                   std::vector<ConstantAddress>& found) {
  Scanner(code, address, got.address, wanted, Dialect::x32, found).run_64();
}
void append_constant_addresses_32(ByteView code, Address address, const GlobalTable& got,
                                  bool /*fixed*/, AddressRange wanted,
                                  std::vector<ConstantAddress>& found) {
  Scanner(code, address, got.address, wanted, Dialect::i386, found).run_32();
}

}  // namespace whocall::x86
