// What is known of values and of the words on the stack that hold them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/instruction.h"

namespace whocall {

// A value, symbolically. Addresses on the stack are offsets from one of two bases: the CFA, or the
// unknown place to which the stack pointer was moved last: rounded down (`and $-16,%rsp`), lowered
// by a computed size (`sub %rcx,%rsp`), or set to a computed address.
struct AbstractValue {
  enum class Kind : std::uint8_t { unknown, cfa, aligned, entry, indexed, constant };
  Kind kind = Kind::unknown;
  // entry: the register (DWARF number) whose value on entry it is; indexed: the register that is
  // added `scale` times to an address that is told as `aligned` ones are.
  std::uint8_t source = 0;
  std::uint16_t scale = 0;  // as wide as leaves no gap: values are compared as one word
  std::int32_t offset = 0;  // cfa, aligned, indexed: bytes from the base; constant: the number

  static AbstractValue from_cfa(std::int64_t offset) { return address(Kind::cfa, offset); }
  static AbstractValue from_aligned(std::int64_t offset) { return address(Kind::aligned, offset); }
  static AbstractValue number(std::int64_t value) { return address(Kind::constant, value); }
  static AbstractValue on_entry(Register source) {
    static_assert(kRegisterLimit <= 256);
    return {Kind::entry, static_cast<std::uint8_t>(source), 0, 0};
  }
  // Nothing is known of an address farther away than any stack is large.
  static AbstractValue address(Kind kind, std::int64_t offset) {
    const bool sane = offset > -kFarthest && offset < kFarthest;
    return sane ? AbstractValue{kind, 0, 0, static_cast<std::int32_t>(offset)} : AbstractValue{};
  }
  static constexpr std::int64_t kFarthest = std::int64_t{1} << 30U;
  [[nodiscard]] bool is_address() const { return kind == Kind::cfa || kind == Kind::aligned; }

  friend bool operator==(const AbstractValue& left, const AbstractValue& right) {
    return std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right);
  }
};

// A word on the stack whose content is followed.
struct StackWord {
  AbstractValue where;  // cfa, aligned or indexed
  AbstractValue what;   // entry or address
  friend bool operator==(const StackWord&, const StackWord&) = default;
};

// A list of them that copies share until one is changed: few instructions change it, and every one
// has a state of its own.
class StackWords {
 public:
  [[nodiscard]] const std::vector<StackWord>& list() const {
    static const std::vector<StackWord> kNone;
    return words_ != nullptr ? *words_ : kNone;
  }

  void add(const StackWord& word) { change().push_back(word); }

  template <typename Predicate>
  void erase_if(const Predicate& predicate) {
    if (std::ranges::any_of(list(), predicate)) {
      std::erase_if(change(), predicate);
    }
  }

  // The words, to be changed.
  std::vector<StackWord>& change() {
    if (words_ == nullptr || words_.use_count() != 1) {
      words_ = std::make_shared<std::vector<StackWord>>(list());
    }
    return *words_;
  }

  friend bool operator==(const StackWords& left, const StackWords& right) {
    return left.words_ == right.words_ || left.list() == right.list();
  }

 private:
  std::shared_ptr<std::vector<StackWord>> words_;
};

}  // namespace whocall
