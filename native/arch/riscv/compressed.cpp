#include "arch/riscv/compressed.h"

#include "arch/riscv/effects.h"
#include "arch/riscv/fields.h"

namespace whocall::riscv {
namespace {

using Flow = Instruction::Flow;

// By quadrant (the lowest bits) and the highest three, as the manual's tables divide them.
class ParcelReader {
 public:
  ParcelReader(std::uint32_t parcel, Address address, Instruction& out)
      : parcel_(parcel), address_(address), out_(out), effects_(out) {}

  bool read() {
    switch (bits(parcel_, 0, 2)) {
      case 0:
        return by_register();
      case 1:
        return immediates();
      default:
        return by_stack_pointer();
    }
  }

 private:
  [[nodiscard]] std::uint32_t highest() const { return bits(parcel_, 13, 3); }
  // Of three bits: x8 to x15.
  [[nodiscard]] Register small(unsigned low) const {
    return static_cast<Register>(8 + bits(parcel_, low, 3));
  }
  [[nodiscard]] Register whole() const { return static_cast<Register>(bits(parcel_, 7, 5)); }
  [[nodiscard]] Register second() const { return static_cast<Register>(bits(parcel_, 2, 5)); }
  // Six bits with a sign.
  [[nodiscard]] std::int64_t immediate() const {
    return sign_extended(bits(parcel_, 12, 1) << 5U | bits(parcel_, 2, 5), 6);
  }
  [[nodiscard]] std::int64_t double_offset() const {
    return bits(parcel_, 10, 3) << 3U | bits(parcel_, 5, 2) << 6U;
  }

  // Loads and stores by a register of the small ones.
  bool by_register() {
    const Register base = small(7);
    switch (highest()) {
      case 0: {  // c.addi4spn
        const std::int64_t amount = bits(parcel_, 11, 2) << 4U | bits(parcel_, 7, 4) << 6U |
                                    bits(parcel_, 6, 1) << 2U | bits(parcel_, 5, 1) << 3U;
        effects_.set(small(2), kSp, amount);
        return amount != 0;
      }
      case 1:  // c.fld
        return true;
      case 2:  // c.lw
        effects_.clobber(small(2));
        return true;
      case 3:  // c.ld
        effects_.load(small(2), base, double_offset());
        return true;
      case 4:  // bytes and halves
        return parts_of_words(base);
      case 5:  // c.fsd
        effects_.store_other(base, double_offset());
        return true;
      case 6:  // c.sw
        effects_.store_other(base, bits(parcel_, 10, 3) << 3U | bits(parcel_, 6, 1) << 2U |
                                       bits(parcel_, 5, 1) << 6U);
        return true;
      default:  // c.sd
        effects_.store(base, double_offset(), small(2));
        return true;
    }
  }

  bool parts_of_words(Register base) {
    const std::uint32_t operation = bits(parcel_, 10, 3);
    if (operation < 2) {
      effects_.clobber(small(2));
    } else if (operation < 4) {
      const std::uint32_t odd = operation == 2 ? bits(parcel_, 6, 1) : 0;
      effects_.store_other(base, bits(parcel_, 5, 1) << 1U | odd);
    }
    return operation < 4;
  }

  bool immediates() {
    switch (highest()) {
      case 0:  // c.addi, c.nop
        out_.padding = whole() == kZero;
        effects_.set(whole(), whole(), immediate());
        return true;
      case 1:  // c.addiw
        effects_.set_word(whole(), whole(), immediate());
        return whole() != kZero;
      case 2:  // c.li
        effects_.constant(whole(), immediate());
        return true;
      case 3:
        return upper();
      case 4:
        arithmetic();
        return true;
      case 5:  // c.j
        effects_.jump_to(kZero, address_ + static_cast<Address>(immediate_cj(parcel_)));
        return true;
      default:  // c.beqz, c.bnez
        out_.flow = Flow::branch;
        out_.target = address_ + static_cast<Address>(sign_extended(
                                     bits(parcel_, 12, 1) << 8U | bits(parcel_, 5, 2) << 6U |
                                         bits(parcel_, 2, 1) << 5U | bits(parcel_, 10, 2) << 3U |
                                         bits(parcel_, 3, 2) << 1U,
                                     9));
        return true;
    }
  }

  // c.addi16sp, c.lui
  bool upper() {
    if (whole() == kSp) {
      const std::uint32_t amount = bits(parcel_, 12, 1) << 9U | bits(parcel_, 3, 2) << 7U |
                                   bits(parcel_, 5, 1) << 6U | bits(parcel_, 2, 1) << 5U |
                                   bits(parcel_, 6, 1) << 4U;
      effects_.set(kSp, kSp, sign_extended(amount, 10));
      return amount != 0;
    }
    effects_.constant(whole(), immediate() * 4096);
    return immediate() != 0;
  }

  void arithmetic() {
    const bool subtracts = bits(parcel_, 10, 3) == 3 && bits(parcel_, 5, 2) == 0;
    if (subtracts) {
      effects_.subtract(small(7), small(7), small(2));
    } else {
      effects_.clobber(small(7));
    }
  }

  bool by_stack_pointer() {
    switch (highest()) {
      case 0:  // c.slli
      case 2:  // c.lwsp
        effects_.clobber(whole());
        return true;
      case 1:  // c.fldsp
        return true;
      case 3:  // c.ldsp
        effects_.load(
            whole(), kSp,
            bits(parcel_, 12, 1) << 5U | bits(parcel_, 5, 2) << 3U | bits(parcel_, 2, 3) << 6U);
        return whole() != kZero;
      case 4:
        return jumps_and_moves();
      case 5:  // c.fsdsp
        effects_.store_other(kSp, double_in_frame());
        return true;
      case 6:  // c.swsp
        effects_.store_other(kSp, bits(parcel_, 9, 4) << 2U | bits(parcel_, 7, 2) << 6U);
        return true;
      default:  // c.sdsp
        effects_.store(kSp, double_in_frame(), second());
        return true;
    }
  }

  [[nodiscard]] std::int64_t double_in_frame() const {
    return bits(parcel_, 10, 3) << 3U | bits(parcel_, 7, 3) << 6U;
  }

  bool jumps_and_moves() {
    const bool links = bits(parcel_, 12, 1) != 0;
    if (second() != kZero) {  // c.add, c.mv
      if (links) {
        effects_.add(whole(), whole(), second());
      } else {
        effects_.set(whole(), second(), 0);
      }
      return true;
    }
    if (whole() == kZero) {  // c.ebreak
      out_.flow = Flow::stop;
      return links;
    }
    effects_.jump_by_register(links ? kRa : kZero, whole(), 0);
    return true;
  }

  std::uint32_t parcel_;
  Address address_;
  Instruction& out_;
  Effects effects_;
};

}  // namespace

bool read_compressed(std::uint32_t parcel, Address address, Instruction& out) {
  return ParcelReader(parcel, address, out).read();
}

}  // namespace whocall::riscv
