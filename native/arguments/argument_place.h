// Where arguments are handed over: in registers, and those beyond them on the stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/registers.h"

namespace whocall {

struct ArgumentPlace {
  std::optional<Register> reg{};
  std::int64_t offset = 0;  // of one on the stack: from the CFA of who gets it, bytes

  friend bool operator==(const ArgumentPlace&, const ArgumentPlace&) = default;
};

enum class CallConvention : std::uint8_t { native, windows };

// Words of a caller's stack above the CFA that are followed.
inline constexpr std::size_t kArgumentWords = 12;

// The places by number: registers in the order of the conventions, words of the stack behind them.
class ArgumentPlaces {
 public:
  explicit ArgumentPlaces(const RegisterFile& file,
                          CallConvention convention = CallConvention::native)
      : registers_(file.arguments.empty() ? file.local_arguments : file.arguments),
        word_(file.size) {
    if (convention == CallConvention::windows && !file.windows_arguments.empty()) {
      registers_ = file.windows_arguments;
      homes_ = registers_.size();
    }
  }

  [[nodiscard]] std::size_t registers() const { return registers_.size(); }
  [[nodiscard]] std::size_t count() const { return registers_.size() + kArgumentWords; }
  [[nodiscard]] ArgumentPlace operator[](std::size_t position) const {
    return position < registers_.size() ? ArgumentPlace{registers_[position]}
                                        : ArgumentPlace{std::nullopt, offset_of(position)};
  }
  // Of the word with this number, bytes; of a register, where it would lie as a word.
  [[nodiscard]] std::int64_t offset_of(std::size_t position) const {
    return (static_cast<std::int64_t>(position + homes_) -
            static_cast<std::int64_t>(registers_.size())) *
           word_;
  }
  // count(): it is none of them.
  [[nodiscard]] std::size_t position_of(Register number) const {
    const auto found = std::ranges::find(registers_, number);
    return found != registers_.end() ? static_cast<std::size_t>(found - registers_.begin())
                                     : count();
  }
  [[nodiscard]] std::size_t position_of(std::int64_t offset) const {
    const std::int64_t word = offset / word_ - static_cast<std::int64_t>(homes_);
    return offset >= 0 && word >= 0 && word < std::int64_t{kArgumentWords}
               ? registers_.size() + static_cast<std::size_t>(word)
               : count();
  }

 private:
  std::span<const Register> registers_;
  std::size_t homes_ = 0;  // words of the stack that callers leave for the registers
  std::uint8_t word_;
};

}  // namespace whocall
