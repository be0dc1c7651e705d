#include "unwind/rows/exception_program.h"

#include <array>
#include <bit>
#include <span>

namespace whocall {
namespace {

constexpr Register kSp = 13;
constexpr Register kLink = 14;
constexpr Register kPc = 15;
constexpr std::int64_t kFarthest = std::int64_t{1} << 31U;  // bytes; all of the address space

// Runs the instructions on a stack pointer that is a register and an offset.
class Program {
 public:
  explicit Program(std::span<const std::uint8_t> instructions) : instructions_(instructions) {}

  // False where they cannot be followed.
  bool run() {
    while (next_ < instructions_.size() && !finished_) {
      if (!step() || cut_off_ || vsp_ > kFarthest || vsp_ < -kFarthest) {
        return false;
      }
    }
    return true;
  }

  // What was popped into the pc is the return address, or else what is in the link register.
  [[nodiscard]] UnwindRow row(const Architecture& arch) const {
    UnwindRow row;
    row.cfa = CfaRule::at(base_, vsp_);
    row.return_address = arch.registers.return_address;
    for (Register number = 0; number < kLink; ++number) {
      if (popped_[number]) {
        row.rules.push_back({number, RegisterRule::stored_at_cfa(*popped_[number] - vsp_)});
      }
    }
    if (const auto slot = popped_[kPc] ? popped_[kPc] : popped_[kLink]) {
      row.rules.push_back({row.return_address, RegisterRule::stored_at_cfa(*slot - vsp_)});
    }
    return row;
  }

 private:
  using Byte = std::uint8_t;

  Byte take() {
    cut_off_ = next_ == instructions_.size();
    return cut_off_ ? Byte{0} : instructions_[next_++];
  }

  bool step() {
    if (popped_[kSp]) {
      return finish(take());  // the stack is the caller's: nothing is popped behind that
    }
    const Byte byte = take();
    switch (byte >> 4U) {
      case 0x0:
      case 0x1:
      case 0x2:
      case 0x3:
        return move(4 * (byte & 0x3fU) + 4);
      case 0x4:
      case 0x5:
      case 0x6:
      case 0x7:
        return move(-(4 * std::int64_t{byte & 0x3fU} + 4));
      case 0x8:
        return pop_mask(byte & 0xfU, take());
      case 0x9:
        return take_from(byte & 0xfU);
      case 0xa:
        return pop(((0x20U << (byte & 7U)) - 0x10U) | ((byte & 8U) != 0 ? 1U << kLink : 0U));
      case 0xb:
        return other(byte);
      case 0xc:
        return pop_wide(byte);
      case 0xd:
        return (byte & 8U) == 0 && move(doubles(byte & 7U));
      default:
        return false;
    }
  }

  static std::int64_t doubles(unsigned above_one) { return 8 * (std::int64_t{above_one} + 1); }

  bool finish(Byte byte) {
    finished_ = byte == 0xb0;
    return finished_;
  }

  bool move(std::int64_t by) {
    vsp_ += by;
    return true;
  }

  bool pop_mask(unsigned high, Byte low) {
    const unsigned mask = high << 12U | unsigned{low} << 4U;
    return mask != 0 && pop(mask);  // none: unwinding is refused
  }

  // Ascending from the stack pointer on, each once.
  bool pop(unsigned mask) {
    for (Register number = 0; number <= kPc; ++number) {
      if ((mask >> number & 1U) != 0) {
        if (popped_[number]) {
          return false;
        }
        popped_[number] = vsp_;
        vsp_ += 4;
      }
    }
    return true;
  }

  // Places that were told from another register no rule can tell from this one.
  bool take_from(unsigned number) {
    for (const auto& place : popped_) {
      if (place) {
        return false;
      }
    }
    base_ = static_cast<Register>(number);
    vsp_ = 0;
    return number != kSp && number != kPc;
  }

  bool other(Byte byte) {
    switch (byte) {
      case 0xb0:
        return finish(byte);
      case 0xb1: {
        const unsigned mask = take();
        return mask != 0 && mask < 0x10 && pop(mask);
      }
      case 0xb2:
        return move_far();
      case 0xb3:  // FSTMFDX left a word more
        return move(doubles(take() & 0xfU) + 4);
      case 0xb4:  // the code that authenticates the return address
        return move(4);
      case 0xb5:  // which belongs to this stack pointer
        return true;
      case 0xb6:
      case 0xb7:
        return false;
      default:  // as b3
        return move(doubles(byte & 7U) + 4);
    }
  }

  bool move_far() {
    constexpr unsigned kLongest = 28;  // bits: what is more leaves the address space
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift <= kLongest; shift += 7) {
      const Byte byte = take();
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) {
        return move(static_cast<std::int64_t>(0x204 + (value << 2U)));
      }
    }
    return false;
  }

  // Registers of coprocessors: only their sizes count.
  bool pop_wide(Byte byte) {
    switch (byte) {
      case 0xc6:
      case 0xc8:
      case 0xc9:
        return move(doubles(take() & 0xfU));
      case 0xc7: {
        const unsigned mask = take();
        return mask != 0 && mask < 0x10 && move(4 * std::popcount(mask));
      }
      default:
        return byte < 0xc6 && move(doubles(byte & 7U));
    }
  }

  std::span<const std::uint8_t> instructions_;
  std::size_t next_ = 0;
  bool finished_ = false;
  bool cut_off_ = false;  // in the middle of an instruction
  Register base_ = kSp;
  std::int64_t vsp_ = 0;                                       // from the base, bytes
  std::array<std::optional<std::int64_t>, kPc + 1> popped_{};  // where, from the base
};

}  // namespace

std::optional<UnwindRow> compile(const ExceptionEntry& entry, const Architecture& arch) {
  Program program(entry.instructions);
  if (entry.instructions.empty() || !program.run()) {
    return std::nullopt;
  }
  UnwindRow row = program.row(arch);
  row.range = entry.range;
  return row;
}

}  // namespace whocall
