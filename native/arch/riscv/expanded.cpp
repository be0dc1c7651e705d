// The RISC-V Instruction Set Manual, "C" Standard Extension: its tables of instructions by
// quadrant.
#include "arch/riscv/expanded.h"

#include "arch/riscv/fields.h"
#include "arch/riscv/frame_facts.h"

namespace whocall::riscv {
namespace {

constexpr std::uint32_t kOp = 0x33;
constexpr std::uint32_t kOpImm32 = 0x1b;
constexpr std::uint32_t kOp32 = 0x3b;
constexpr std::uint32_t kStore = 0x23;
constexpr std::uint32_t kLoadFloat = 0x07;
constexpr std::uint32_t kStoreFloat = 0x27;
constexpr std::uint32_t kBranch = 0x63;
constexpr std::uint32_t kBreak = 0x00100073;
constexpr std::uint32_t kWordSize = 2;  // as funct3 of loads and stores tells sizes
constexpr std::uint32_t kDouble = 3;

// Instructions of 32 bits, made of their fields.
constexpr std::uint32_t form_i(std::uint32_t code, std::uint32_t funct, std::uint32_t to,
                               std::uint32_t from, std::int64_t immediate) {
  return static_cast<std::uint32_t>(immediate & 0xfff) << 20U | from << 15U | funct << 12U |
         to << 7U | code;
}
constexpr std::uint32_t form_s(std::uint32_t code, std::uint32_t funct, std::uint32_t base,
                               std::uint32_t from, std::uint32_t offset) {
  return bits(offset, 5, 7) << 25U | from << 20U | base << 15U | funct << 12U |
         bits(offset, 0, 5) << 7U | code;
}
constexpr std::uint32_t form_r(std::uint32_t code, std::uint32_t funct, std::uint32_t to,
                               std::uint32_t one, std::uint32_t other) {
  return bits(funct, 3, 7) << 25U | other << 20U | one << 15U | bits(funct, 0, 3) << 12U |
         to << 7U | code;
}

constexpr std::uint32_t form_b(std::uint32_t funct, std::uint32_t one, std::int64_t distance) {
  const auto to = static_cast<std::uint32_t>(distance);
  return bits(to, 12, 1) << 31U | bits(to, 5, 6) << 25U | one << 15U | funct << 12U |
         bits(to, 1, 4) << 8U | bits(to, 11, 1) << 7U | kBranch;
}
constexpr std::uint32_t form_j(std::int64_t distance) {
  const auto to = static_cast<std::uint32_t>(distance);
  return bits(to, 20, 1) << 31U | bits(to, 1, 10) << 21U | bits(to, 11, 1) << 20U |
         bits(to, 12, 8) << 12U | kJal;
}

class Parcel {
 public:
  explicit Parcel(std::uint32_t parcel) : parcel_(parcel) {}

  [[nodiscard]] std::optional<std::uint32_t> word() const {
    switch (field(0, 2)) {
      case 0:
        return by_register();
      case 1:
        return immediates();
      default:
        return by_stack_pointer();
    }
  }

 private:
  [[nodiscard]] std::uint32_t field(unsigned low, unsigned count) const {
    return bits(parcel_, low, count);
  }
  [[nodiscard]] std::uint32_t small(unsigned low) const { return 8 + field(low, 3); }
  [[nodiscard]] std::uint32_t whole() const { return field(7, 5); }
  [[nodiscard]] std::uint32_t second() const { return field(2, 5); }
  [[nodiscard]] std::int64_t immediate() const {
    return sign_extended(field(12, 1) << 5U | field(2, 5), 6);
  }

  // A miss for what the tables reserve.
  static std::optional<std::uint32_t> some(bool is_one, std::uint32_t word) {
    return is_one ? std::optional(word) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint32_t> by_register() const {
    const std::uint32_t doubles = field(10, 3) << 3U | field(5, 2) << 6U;
    const std::uint32_t words = field(10, 3) << 3U | field(6, 1) << 2U | field(5, 1) << 6U;
    switch (field(13, 3)) {
      case 0: {
        const std::uint32_t amount =
            field(11, 2) << 4U | field(7, 4) << 6U | field(6, 1) << 2U | field(5, 1) << 3U;
        return some(amount != 0, form_i(kOpImm, 0, small(2), kSp, amount));
      }
      case 1:
        return form_i(kLoadFloat, kDouble, small(2), small(7), doubles);
      case 2:
        return form_i(kLoad, kWordSize, small(2), small(7), words);
      case 3:
        return form_i(kLoad, kDouble, small(2), small(7), doubles);
      case 4:
        return parts_of_words();
      case 5:
        return form_s(kStoreFloat, kDouble, small(7), small(2), doubles);
      case 6:
        return form_s(kStore, kWordSize, small(7), small(2), words);
      default:
        return form_s(kStore, kDouble, small(7), small(2), doubles);
    }
  }

  // Zcb: c.lbu, c.lhu and c.lh, c.sb, c.sh
  [[nodiscard]] std::optional<std::uint32_t> parts_of_words() const {
    const std::uint32_t bytes = field(6, 1) | field(5, 1) << 1U;
    const std::uint32_t halves = field(5, 1) << 1U;
    switch (field(10, 3)) {
      case 0:
        return form_i(kLoad, 4, small(2), small(7), bytes);
      case 1:
        return form_i(kLoad, field(6, 1) != 0 ? 1 : 5, small(2), small(7), halves);
      case 2:
        return form_s(kStore, 0, small(7), small(2), bytes);
      case 3:
        return form_s(kStore, 1, small(7), small(2), halves);
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> immediates() const {
    switch (field(13, 3)) {
      case 0:
        return form_i(kOpImm, 0, whole(), whole(), immediate());
      case 1:
        return some(whole() != kZero, form_i(kOpImm32, 0, whole(), whole(), immediate()));
      case 2:
        return form_i(kOpImm, 0, whole(), kZero, immediate());
      case 3:
        return upper();
      case 4:
        return arithmetic();
      case 5:
        return form_j(immediate_cj(parcel_));
      default:
        return form_b(field(13, 1), small(7),
                      sign_extended(field(12, 1) << 8U | field(5, 2) << 6U | field(2, 1) << 5U |
                                        field(10, 2) << 3U | field(3, 2) << 1U,
                                    9));
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> upper() const {
    if (whole() == kSp) {
      const std::uint32_t amount = field(12, 1) << 9U | field(3, 2) << 7U | field(5, 1) << 6U |
                                   field(2, 1) << 5U | field(6, 1) << 4U;
      return some(amount != 0, form_i(kOpImm, 0, kSp, kSp, sign_extended(amount, 10)));
    }
    return some(immediate() != 0,
                static_cast<std::uint32_t>(immediate() * 4096) | whole() << 7U | kLui);
  }

  // funct3, and funct7 above it, of sub, xor, or, and; subw, addw.
  [[nodiscard]] std::optional<std::uint32_t> arithmetic() const {
    constexpr std::uint32_t kSubtract = 0x20U << 3U;
    constexpr std::uint32_t kWhole[] = {kSubtract, 4, 6, 7};
    const std::uint32_t shift = field(12, 1) << 5U | field(2, 5);
    switch (field(10, 2)) {
      case 0:
        return form_i(kOpImm, 5, small(7), small(7), shift);
      case 1:
        return form_i(kOpImm, 5, small(7), small(7), shift | 0x400U);
      case 2:
        return form_i(kOpImm, 7, small(7), small(7), immediate());
      default:
        break;
    }
    if (field(12, 1) == 0) {
      return form_r(kOp, kWhole[field(5, 2)], small(7), small(7), small(2));
    }
    switch (field(5, 2)) {
      case 0:
        return form_r(kOp32, kSubtract, small(7), small(7), small(2));
      case 1:
        return form_r(kOp32, 0, small(7), small(7), small(2));
      case 2:  // Zcb: c.mul
        return form_r(kOp, 1U << 3U, small(7), small(7), small(2));
      default:
        return of_one();
    }
  }

  // Zcb: c.zext.b, c.sext.b, c.zext.h, c.sext.h, c.zext.w, c.not
  [[nodiscard]] std::optional<std::uint32_t> of_one() const {
    constexpr std::uint32_t kPacked = 0x04U << 3U;  // funct7
    switch (field(2, 3)) {
      case 0:
        return form_i(kOpImm, 7, small(7), small(7), 0xff);
      case 1:
        return form_i(kOpImm, 1, small(7), small(7), 0x604);
      case 2:
        return form_r(kOp32, kPacked | 4U, small(7), small(7), kZero);
      case 3:
        return form_i(kOpImm, 1, small(7), small(7), 0x605);
      case 4:
        return form_r(kOp32, kPacked, small(7), small(7), kZero);
      case 5:
        return form_i(kOpImm, 4, small(7), small(7), -1);
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> by_stack_pointer() const {
    const std::uint32_t loaded = field(12, 1) << 5U | field(5, 2) << 3U | field(2, 3) << 6U;
    const std::uint32_t stored = field(10, 3) << 3U | field(7, 3) << 6U;
    switch (field(13, 3)) {
      case 0:
        return form_i(kOpImm, 1, whole(), whole(), field(12, 1) << 5U | field(2, 5));
      case 1:
        return form_i(kLoadFloat, kDouble, whole(), kSp, loaded);
      case 2:
        return form_i(kLoad, kWordSize, whole(), kSp,
                      field(12, 1) << 5U | field(4, 3) << 2U | field(2, 2) << 6U);
      case 3:
        return some(whole() != kZero, form_i(kLoad, kDouble, whole(), kSp, loaded));
      case 4:
        return jumps_and_moves();
      case 5:
        return form_s(kStoreFloat, kDouble, kSp, second(), stored);
      case 6:
        return form_s(kStore, kWordSize, kSp, second(), field(9, 4) << 2U | field(7, 2) << 6U);
      default:
        return form_s(kStore, kDouble, kSp, second(), stored);
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> jumps_and_moves() const {
    const bool more = field(12, 1) != 0;
    if (second() != kZero) {
      return form_r(kOp, 0, whole(), more ? whole() : kZero, second());
    }
    if (whole() == kZero) {
      return some(more, kBreak);
    }
    return form_i(kJalr, 0, more ? kRa : kZero, whole(), 0);
  }

  std::uint32_t parcel_;
};

}  // namespace

std::optional<std::uint32_t> expanded(std::uint32_t parcel) { return Parcel(parcel).word(); }

}  // namespace whocall::riscv
