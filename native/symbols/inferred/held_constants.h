// What registers and words of the stack hold, along a stretch of code.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "arch/architecture.h"
#include "arch/instruction.h"

namespace whocall {

// Which registers and words of the stack hold which constants: addresses and, apart from them,
// plain numbers.
class HeldConstants {
 public:
  explicit HeldConstants(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] bool none() const { return registers_.empty() && words_.empty(); }

  void apply(const Effect& effect) {
    switch (effect.kind) {
      case Effect::Kind::set:
        set(effect);
        break;
      case Effect::Kind::constant:
      case Effect::Kind::add:
      case Effect::Kind::subtract:
      case Effect::Kind::load:
      case Effect::Kind::clobber:
        registers_.erase(effect.destination);
        slots_.erase(effect.destination);
        numbers_.erase(effect.destination);
        if (effect.kind == Effect::Kind::constant) {
          numbers_[effect.destination] = effect.offset;
        }
        break;
      case Effect::Kind::store:
      case Effect::Kind::store_other:
        store(effect);
        break;
      case Effect::Kind::compare:
        break;
    }
  }

  void take(const ConstantAddress& constant) {
    if (constant.destination) {
      numbers_.erase(*constant.destination);
      registers_[*constant.destination] = constant.value;
      if (constant.slot) {
        slots_[*constant.destination] = *constant.slot;
      }
    } else {
      words_[sp_ + constant.offset] = constant.value;
    }
  }

  // The effect, applied before, left this number where an effect alone does not tell it.
  void take_number(const Effect& effect, std::int64_t value) {
    if (effect.kind == Effect::Kind::clobber) {
      numbers_[effect.destination] = value;
    } else if (effect.kind == Effect::Kind::store_other &&
               effect.destination == arch_.registers.sp) {
      number_words_[sp_ + effect.offset] = value;
    }
  }

  // A miss where the argument is no number that the code names, or nobody knows.
  [[nodiscard]] std::optional<std::int64_t> number(unsigned position) const {
    if (arch_.registers.arguments.empty()) {
      return look_up(number_words_, sp_ + std::int64_t{position} * arch_.abi.pointer_size);
    }
    return position < arch_.registers.arguments.size()
               ? look_up(numbers_, arch_.registers.arguments[position])
               : std::nullopt;
  }

  [[nodiscard]] Address argument(unsigned position) const {
    if (arch_.registers.arguments.empty()) {
      return find(words_, sp_ + std::int64_t{position} * arch_.abi.pointer_size);
    }
    return position < arch_.registers.arguments.size()
               ? find(registers_, arch_.registers.arguments[position])
               : 0;
  }
  // What a register holds, and which word of the global offset table that came from; 0: not known.
  [[nodiscard]] Address held_by(Register number) const { return find(registers_, number); }
  [[nodiscard]] Address slot_of(Register number) const { return find(slots_, number); }

  // What a call leaves: the words of the arguments are the callee's.
  void call() {
    words_.clear();
    number_words_.clear();
    const auto is_lost = [&](const auto& each) {
      return std::ranges::find(arch_.registers.callee_saved, each.first) ==
             arch_.registers.callee_saved.end();
    };
    std::erase_if(registers_, is_lost);
    std::erase_if(numbers_, is_lost);
    slots_.clear();
  }

 private:
  template <typename Map>
  static Address find(const Map& map, typename Map::key_type key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
  }

  template <typename Map>
  static std::optional<std::int64_t> look_up(const Map& map, typename Map::key_type key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }

  void set(const Effect& effect) {
    if (effect.destination == arch_.registers.sp) {
      if (effect.source == arch_.registers.sp) {
        sp_ += effect.offset;
      } else {
        words_.clear();
        number_words_.clear();
      }
      return;
    }
    const auto number = effect.offset == 0 ? look_up(numbers_, effect.source) : std::nullopt;
    numbers_.erase(effect.destination);
    if (number) {
      numbers_[effect.destination] = *number;
    }
    slots_.erase(effect.destination);
    const Address value = effect.offset == 0 ? find(registers_, effect.source) : 0;
    if (value != 0) {
      registers_[effect.destination] = value;
    } else {
      registers_.erase(effect.destination);
    }
  }

  void store(const Effect& effect) {
    if (effect.destination != arch_.registers.sp) {
      return;
    }
    const auto number =
        effect.kind == Effect::Kind::store ? look_up(numbers_, effect.source) : std::nullopt;
    number_words_.erase(sp_ + effect.offset);
    if (number) {
      number_words_[sp_ + effect.offset] = *number;
    }
    const Address value = effect.kind == Effect::Kind::store ? find(registers_, effect.source) : 0;
    if (value != 0) {
      words_[sp_ + effect.offset] = value;
    } else {
      words_.erase(sp_ + effect.offset);
    }
  }

  const Architecture& arch_;
  std::map<Register, Address> registers_;
  std::map<Register, Address> slots_;
  std::map<std::int64_t, Address> words_;  // by distance from sp at the beginning
  std::map<Register, std::int64_t> numbers_;
  std::map<std::int64_t, std::int64_t> number_words_;  // as words_
  std::int64_t sp_ = 0;
};

}  // namespace whocall
