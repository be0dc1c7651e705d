// What linkers write into 64-bit x86 code: distances from rip, and, at fixed addresses, addresses
// of 32 bits. Intel SDM volume 2, chapter 2 and appendix A (opcode maps).
#include <algorithm>

#include "arch/x86/code.h"

namespace whocall::x86 {
namespace {

constexpr std::size_t kDistance = 4;  // bytes

// An instruction up to its operands.
struct Opening {
  unsigned map = 0;  // of opcodes: 0 one byte, 1 behind 0f, 2 behind 0f38, 3 behind 0f3a
  std::uint8_t opcode = 0;
  std::size_t at = 0;    // behind the opcode
  bool narrow = false;   // 66
  bool segment = false;  // fs or gs: addresses are none of the image
  bool wide = false;     // REX.W
};

class PlacedForm {
 public:
  PlacedForm(ByteView instruction, Address address, const PlacedImage& image, AddressRange function)
      : bytes_(reinterpret_cast<const std::uint8_t*>(instruction.bytes().data())),
        size_(std::min<std::size_t>(instruction.size(), 16)),
        address_(address),
        image_(image),
        function_(function) {
    found_.size = static_cast<std::uint8_t>(size_);
    std::copy_n(instruction.bytes().begin(), size_, found_.bytes.begin());
  }

  PlacedOperands run() {
    const Opening opening = open();
    if (opening.at <= size_ && !branch(opening)) {
      if (opening.at < size_ && has_modrm(opening)) {
        memory(opening);
      }
      immediate(opening);
    }
    return found_;
  }

 private:
  [[nodiscard]] std::uint8_t byte(std::size_t at) const { return at < size_ ? bytes_[at] : 0; }

  Opening open() const {
    Opening found;
    std::size_t at = 0;
    for (; at < size_ && is_prefix(bytes_[at]); ++at) {
      found.narrow = found.narrow || bytes_[at] == 0x66;
      found.segment = found.segment || bytes_[at] == 0x64 || bytes_[at] == 0x65;
    }
    if ((byte(at) & 0xf0U) == 0x40) {
      found.wide = (byte(at++) & 8U) != 0;
    }
    const std::uint8_t first = byte(at++);
    if (first == 0xc5) {  // VEX of two bytes, of three, EVEX
      found.map = 1;
      at += 1;
    } else if (first == 0xc4) {
      found.map = byte(at) & 0x1fU;
      at += 2;
    } else if (first == 0x62) {
      found.map = byte(at) & 7U;
      at += 3;
    } else if (first == 0x0f) {
      const bool far = byte(at) == 0x38 || byte(at) == 0x3a;
      found.map = !far ? 1 : byte(at) == 0x38 ? 2 : 3;
      at += far ? 1 : 0;
    } else {
      found.opcode = first;
      found.at = at;
      return found;
    }
    found.opcode = byte(at++);
    found.at = at;
    return found;
  }

  static bool is_prefix(std::uint8_t value) {
    constexpr std::array<std::uint8_t, 11> kPrefixes = {0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36,
                                                        0x3e, 0x26, 0x64, 0x65, 0xf0};
    return std::ranges::find(kPrefixes, value) != kPrefixes.end();
  }

  static bool has_modrm(const Opening& opening) {
    const unsigned opcode = opening.opcode;
    if (opening.map == 0) {
      return opcode < 0x40
                 ? opcode % 8 < 4
                 : opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || opcode / 16 == 8 ||
                       (opcode >= 0xd8 && opcode <= 0xdf) || (opcode >= 0xd0 && opcode <= 0xd3) ||
                       opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
                       opcode == 0xf6 || opcode == 0xf7 || opcode >= 0xfe;
    }
    if (opening.map == 1) {
      return opcode != 0x05 && opcode != 0x0b && opcode / 8 != 6 && opcode != 0x77 &&
             opcode / 16 != 8 && opcode != 0xa2 && opcode / 8 != 0xc8 / 8 && opcode / 8 != 0x19;
    }
    return true;
  }

  // Whether it is a direct call or jump, which has no other operands.
  bool branch(const Opening& opening) {
    const unsigned opcode = opening.opcode;
    const bool is_near = opening.map == 0 &&
                         (opcode / 16 == 7 || opcode == 0xeb || (opcode >= 0xe0 && opcode <= 0xe3));
    const bool is_far =
        opening.map == 0 ? opcode == 0xe8 || opcode == 0xe9 : opening.map == 1 && opcode / 16 == 8;
    if (is_near && size_ > 1) {
      lead(size_ - 1, 1, static_cast<std::int8_t>(byte(size_ - 1)));
    } else if (is_far && size_ > kDistance) {
      lead(size_ - kDistance, kDistance, word(size_ - kDistance));
    }
    return is_near || is_far;
  }

  void lead(std::size_t at, std::size_t size, std::int32_t distance) {
    const Address target = address_ + size_ + static_cast<Address>(std::int64_t{distance});
    // A call of the function itself is a reference; jumps stay within.
    if (!function_.contains(target) || (target == function_.begin && byte(0) == 0xe8)) {
      blank(at, size);
      found_.add({target, true});
    }
  }

  void memory(const Opening& opening) {
    const unsigned modrm = byte(opening.at);
    const unsigned mod = modrm >> 6U;
    std::size_t at = opening.at + 1;
    if (mod == 3) {
      return;
    }
    const bool has_sib = (modrm & 7U) == 4;
    const bool no_base = mod == 0 && (has_sib ? (byte(at) & 7U) == 5 : (modrm & 7U) == 5);
    at += has_sib ? 1 : 0;
    if ((mod != 2 && !no_base) || at + kDistance > size_) {
      return;
    }
    if (no_base && !has_sib) {
      const Address target = address_ + size_ + static_cast<Address>(std::int64_t{word(at)});
      if (image_.range.contains(target)) {
        blank(at, kDistance);
        found_.add({target, false});
      }
    } else if (!opening.segment) {
      outright(at);
    }
  }

  void immediate(const Opening& opening) {
    constexpr std::array<std::uint8_t, 6> kWithImmediate = {0x68, 0x69, 0x81, 0xc7, 0xa9, 0xf7};
    const unsigned opcode = opening.opcode;
    const bool is_move = opcode / 8 == 0xb8 / 8 && !opening.wide;
    const bool is_test = opcode != 0xf7 || (byte(opening.at) >> 3U & 7U) < 2;
    const bool has_one =
        is_move || (opcode < 0x40 && opcode % 8 == 5) ||
        (is_test && std::ranges::find(kWithImmediate, opcode) != kWithImmediate.end());
    if (opening.map == 0 && has_one && !opening.narrow && size_ >= opening.at + kDistance) {
      outright(size_ - kDistance);
    }
  }

  // A number of 32 bits that is an address where code names such.
  void outright(std::size_t at) {
    const Address target = static_cast<std::uint32_t>(word(at));
    if (image_.fixed && image_.range.contains(target)) {
      blank(at, kDistance);
      found_.add({target, false});
    }
  }

  void blank(std::size_t at, std::size_t size) {
    std::fill_n(found_.bytes.begin() + static_cast<std::ptrdiff_t>(at), size, std::byte{0});
  }

  [[nodiscard]] std::int32_t word(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = kDistance; i > 0; --i) {
      value = value << 8U | byte(at + i - 1);
    }
    return static_cast<std::int32_t>(value);
  }

  const std::uint8_t* bytes_;
  std::size_t size_;
  Address address_;
  const PlacedImage& image_;
  AddressRange function_;
  PlacedOperands found_;
};

class Reader final : public PlacedReader {
 public:
  explicit Reader(const PlacedImage& image) : image_(image) {}

  PlacedOperands read(ByteView instruction, Address address, AddressRange function) override {
    return PlacedForm(instruction, address, image_, function).run();
  }

 private:
  PlacedImage image_;
};

}  // namespace

std::unique_ptr<PlacedReader> make_placed_reader_64(const PlacedImage& image) {
  return std::make_unique<Reader>(image);
}

}  // namespace whocall::x86
