// Registers: what an instruction set has of them, and the values that one activation has in them.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace whocall {

// A register by its DWARF number in the architecture's psABI.
using Register = std::uint16_t;

// Registers that the walk can follow have DWARF numbers below this. Enough for every instruction
// set in the list (ppc64's link register is 65, the s390x pc 65); vector registers lie beyond.
inline constexpr Register kRegisterLimit = 72;

// The values of one activation's registers, by DWARF number; unknown where nobody saved them.
class Registers {
 public:
  [[nodiscard]] std::optional<std::uint64_t> get(Register number) const {
    return known(number) ? std::optional(values_[number]) : std::nullopt;
  }
  [[nodiscard]] bool known(Register number) const {
    return number < kRegisterLimit && known_[number];
  }
  void set(Register number, std::uint64_t value) {
    if (number < kRegisterLimit) {
      values_[number] = value;
      known_[number] = true;
    }
  }
  void forget(Register number) {
    if (number < kRegisterLimit) {
      known_[number] = false;
    }
  }

 private:
  std::array<std::uint64_t, kRegisterLimit> values_{};
  std::bitset<kRegisterLimit> known_;
};

// How many registers the analysis of code can follow; what it keeps of every instruction is as
// large as this says.
inline constexpr Register kFollowedLimit = 40;

// Which registers the analysis of code follows, and the place of each in what it keeps: places are
// dense, DWARF numbers are not (POWER's link register is 65). Instructions, rules and tables all
// name registers by DWARF numbers; places are for FollowedValues.
class FollowedRegisters {
 public:
  // All whose numbers are below the limit: the place is the number.
  constexpr FollowedRegisters() = default;
  // Those whose numbers are below `below`, and of the others the ones in `beyond`.
  template <std::size_t Count>
  consteval FollowedRegisters(Register below, const std::array<Register, Count>& beyond)
      : below_(below), count_(static_cast<Register>(below + Count)) {
    for (std::size_t i = 0; i < Count; ++i) {
      beyond_.at(i) = beyond[i];
    }
    if (count_ > kFollowedLimit) {
      throw "more registers than there is room for";  // when it is compiled
    }
  }

  // Not below count() where the register is not followed.
  [[nodiscard]] constexpr Register place(Register number) const {
    return number < below_ ? number : place_beyond(number);
  }
  [[nodiscard]] constexpr bool has(Register number) const { return place(number) < count_; }
  // Of the register at a place below count().
  [[nodiscard]] constexpr Register number(Register place) const {
    return place < below_ ? place : beyond_[place - below_];
  }
  [[nodiscard]] constexpr Register count() const { return count_; }

 private:
  static constexpr std::size_t kMostBeyond = 6;

  [[nodiscard]] constexpr Register place_beyond(Register number) const {
    for (Register place = below_; place < count_; ++place) {
      if (beyond_[place - below_] == number) {
        return place;
      }
    }
    return kFollowedLimit;
  }

  Register below_ = kFollowedLimit;
  Register count_ = kFollowedLimit;
  std::array<Register, kMostBeyond> beyond_{};
};

// A bit of a status register that tells in which mode code runs: ARM's T. Return addresses carry it
// in bit 0.
struct ModeBit {
  Register status = 0;
  std::uint64_t bit = 0;
  std::uint64_t usual = 0;  // what else is in the register, where nobody knows
};

// The registers of an instruction set, and what they are for.
struct RegisterFile {
  std::span<const std::string_view> names;  // gdb's names by DWARF number; "" is none
  // Of a general register, as calls and prologues save it; the pointers of an ABI may be smaller.
  std::uint8_t size = 8;  // bytes
  Register pc = 0;  // where Registers keeps the pc: its DWARF number, or a number nobody else has
  Register sp = 0;
  // What compilers keep a frame's address in where the stack pointer varies: asked first where
  // several registers would do, and believed no more than another.
  Register fp = 0;
  std::optional<Register> other_fp{};  // the same in another mode (T32: r7)
  Register return_address = 0;  // the CFI column of the return address; on x86 the same as pc
  // Where a call leaves the return address, when not on the stack; every call overwrites it.
  std::optional<Register> link{};
  std::span<const Register> callee_saved{};
  std::optional<Register> thread_pointer{};  // to the thread's own data: the same in all frames
  std::optional<ModeBit> mode{};
  // Of the first arguments that are pointers; empty where all lie on the stack.
  std::span<const Register> arguments{};
  // Where all lie on the stack: of the first ones, in the order in which compilers use these
  // registers for functions that only their own file calls (x86: regparm).
  std::span<const Register> local_arguments{};
  // Of code of Windows, whose callers leave a word of the stack for each of them; empty where it
  // hands over as code of Linux does, or none is known.
  std::span<const Register> windows_arguments{};
  // To be said where one that code keeps a return address or a frame in has a large number.
  FollowedRegisters followed{};

  [[nodiscard]] std::array<Register, 2> frame_pointers() const {
    return {fp, other_fp.value_or(fp)};
  }
};

}  // namespace whocall
