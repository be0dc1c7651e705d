#include "arch/arm/constants.h"

#include <array>
#include <optional>

#include "arch/arm/fields.h"
#include "arch/arm/sweep.h"

namespace whocall::arm {
namespace {

// What a register holds: a number, which is an address where code is fixed, or an address that was
// counted from the code.
struct Value {
  Address value = 0;
  bool outright = false;
};

// What an instruction does with its own address or with constants; its effects do not say.
struct Form {
  enum class Kind : std::uint8_t {
    literal,    // register = the word at `value`
    low_half,   // register = value
    high_half,  // upper half of register = value
    nearby,     // register = value, counted from the instruction
    adds_pc,    // register = `from` + value, the pc
    reads,      // the word at `from` + value, the pc, is read
  };
  Kind kind = Kind::literal;
  Register to = 0;
  Address value = 0;
  Register from = 0;
};

using Kind = Form::Kind;

// add rd, pc; ldr rt, [pc, #n]; adr rd.
std::optional<Form> narrow_form(std::uint32_t half, Address at) {
  const Address place = data_base(at, true) + Address{bits(half, 0, 8)} * 4;
  if (is(half, 0xf800, 0x4800)) {
    return Form{Kind::literal, number(half, 8, 3), place};
  }
  if (is(half, 0xf800, 0xa000)) {
    return Form{Kind::nearby, number(half, 8, 3), place};
  }
  if (is(half, 0xff78, 0x4478)) {
    const auto to = static_cast<Register>(bits(half, 0, 3) | bits(half, 7, 1) << 3U);
    return Form{Kind::adds_pc, to, at + 4, to};
  }
  return std::nullopt;
}

// Both halves of an instruction of T32 as one word.
std::optional<Form> wide_form(std::uint32_t word, Address at) {
  const std::uint32_t low = bits(word, 26, 1) << 11U | bits(word, 12, 3) << 8U | bits(word, 0, 8);
  const Address half = bits(word, 16, 4) << 12U | low;
  const Address base = data_base(at, true);
  if (is(word, 0xffff0000, 0xf8df0000)) {
    return Form{Kind::literal, number(word, 12), base + bits(word, 0, 12)};
  }
  if (is(word, 0xfbf08000, 0xf2400000)) {
    return Form{Kind::low_half, number(word, 8), half};
  }
  if (is(word, 0xfbf08000, 0xf2c00000)) {
    return Form{Kind::high_half, number(word, 8), half};
  }
  if (is(word, 0xfbff8000, 0xf20f0000) || is(word, 0xfbff8000, 0xf2af0000)) {
    return Form{Kind::nearby, number(word, 8), bit(word, 23) ? base - low : base + low};
  }
  return std::nullopt;
}

// Of A32, where there is no condition.
std::optional<Form> a32_form(std::uint32_t word, Address at) {
  const Address pc = at + 8;
  const Register to = number(word, 12);
  const Address half = bits(word, 16, 4) << 12U | bits(word, 0, 12);
  const Address turned = std::rotr(bits(word, 0, 8), static_cast<int>(2 * bits(word, 8, 4)));
  if (is(word, 0xffff0000, 0xe59f0000)) {
    return Form{Kind::literal, to, data_base(at, false) + bits(word, 0, 12)};
  }
  if (is(word, 0xfff00000, 0xe3000000)) {
    return Form{Kind::low_half, to, half};
  }
  if (is(word, 0xfff00000, 0xe3400000)) {
    return Form{Kind::high_half, to, half};
  }
  if (is(word, 0xffff0000, 0xe28f0000) || is(word, 0xffff0000, 0xe24f0000)) {
    return Form{Kind::nearby, to, bit(word, 23) ? pc + turned : pc - turned};
  }
  if (is(word, 0xffff0ff0, 0xe08f0000)) {
    return Form{Kind::adds_pc, to, pc, number(word, 0)};
  }
  if (is(word, 0xfff00fff, 0xe080000f)) {
    return Form{Kind::adds_pc, to, pc, number(word, 16)};
  }
  if (is(word, 0xffff0ff0, 0xe79f0000)) {
    return Form{Kind::reads, to, pc, number(word, 0)};
  }
  return std::nullopt;
}

std::optional<Form> form_of(const Swept& swept) {
  if (!swept.thumb) {
    return a32_form(word_at(swept.code, 0).value_or(0), swept.at);
  }
  const std::uint32_t half = half_at(swept.code, 0).value_or(0);
  return half < 0xe800 ? narrow_form(half, swept.at)
                       : wide_form(half << 16U | half_at(swept.code, 2).value_or(0), swept.at);
}

constexpr std::array<Register, 6> kLostInCalls = {0, 1, 2, 3, kScratch, kLink};

// What registers hold, as far as the code goes on straight.
class Values {
 public:
  explicit Values(Endian order) : order_(order) {}

  // What an instruction takes, by its form.
  [[nodiscard]] std::optional<Value> taken(const Form& form, const Swept& swept) const {
    switch (form.kind) {
      case Kind::literal: {
        const auto word = data_word_at(swept.code, form.value - swept.at, order_);
        return word ? std::optional(Value{*word, true}) : std::nullopt;
      }
      case Kind::low_half:
        return Value{form.value, true};
      case Kind::high_half: {
        const auto& low = at(form.to);
        return low && low->outright
                   ? std::optional(Value{form.value << 16U | (low->value & 0xffff), true})
                   : std::nullopt;
      }
      case Kind::nearby:
        return Value{wrapped(form.value)};
      case Kind::adds_pc:
      case Kind::reads: {
        const auto& from = at(form.from);
        return from && from->outright ? std::optional(Value{wrapped(from->value + form.value)})
                                      : std::nullopt;
      }
    }
    return std::nullopt;
  }
  // What an effect puts into its destination.
  [[nodiscard]] std::optional<Value> moved(const Effect& effect) const {
    const auto& from = at(effect.source);
    if (effect.kind == Effect::Kind::set && from) {
      return Value{wrapped(from->value + static_cast<Address>(effect.offset)), from->outright};
    }
    if (effect.kind == Effect::Kind::add && from && at(effect.index)) {
      const auto& index = *at(effect.index);
      const bool counts = from->outright != index.outright;  // one is an address, one a distance
      return counts ? std::optional(Value{wrapped(from->value + index.value)}) : std::nullopt;
    }
    return std::nullopt;
  }
  [[nodiscard]] const std::optional<Value>& at(Register number) const {
    return values_.at(number & 15U);
  }
  void put(Register number, const std::optional<Value>& value) { values_.at(number & 15U) = value; }

  // What is still held behind an instruction.
  void go_behind(const Instruction& instruction) {
    if (instruction.flow == Instruction::Flow::call) {
      for (const Register each : kLostInCalls) {
        put(each, std::nullopt);
      }
    } else if (!goes_on(instruction)) {
      values_.fill(std::nullopt);
    }
  }

 private:
  Endian order_;
  std::array<std::optional<Value>, 16> values_{};
};

bool writes(const Effect& effect) {
  return effect.kind != Effect::Kind::store && effect.kind != Effect::Kind::store_other &&
         effect.kind != Effect::Kind::compare;
}

// The address that an effect reads or writes.
std::optional<Value> operand(const Effect& effect, const Values& values) {
  const bool loads = effect.kind == Effect::Kind::load;
  if ((!loads && effect.kind != Effect::Kind::store && effect.kind != Effect::Kind::store_other) ||
      effect.scale != 0) {
    return std::nullopt;
  }
  const auto& base = values.at(loads ? effect.source : effect.destination);
  return base ? std::optional(Value{wrapped(base->value + static_cast<Address>(effect.offset)),
                                    base->outright})
              : std::nullopt;
}

// Calls named(at, value, destination) for each address that an instruction of `code` may take, and
// read(value) for each that one reads or writes.
template <typename Named, typename Read>
void for_each_address(ByteView code, Address address, Endian order, const Named& named,
                      const Read& read) {
  Values values(order);
  sweep(code, address, [&](const Swept& swept) {
    if (swept.before == Before::ended) {
      values = Values(order);
    }
    const auto form = form_of(swept);
    const auto taken = form ? values.taken(*form, swept) : std::nullopt;
    for (const Effect& effect : swept.instruction.list()) {
      if (const auto place = operand(effect, values)) {
        read(*place);
      }
      if (writes(effect)) {
        const auto moved = values.moved(effect);
        values.put(effect.destination, moved);
        if (moved && effect.offset != 0) {
          named(swept.at, *moved, effect.destination);
        }
      }
    }
    if (taken && form->kind == Kind::reads) {
      read(*taken);
    } else if (taken) {
      values.put(form->to, taken);
      named(swept.at, *taken, form->to);
    }
    values.go_behind(swept.instruction);
  });
}

}  // namespace

template <Endian Data>
void append_constant_addresses(ByteView code, Address address, const GlobalTable& /*got*/,
                               bool fixed, AddressRange wanted,
                               std::vector<ConstantAddress>& found) {
  for_each_address(
      code, address, Data,
      [&](Address at, const Value& value, Register destination) {
        if (wanted.contains(value.value) && (fixed || !value.outright)) {
          found.push_back({.at = at, .value = value.value, .destination = destination});
        }
      },
      [](auto...) {});
}

template <Endian Data>
void append_named_addresses(ByteView code, Address address, const GlobalTable& /*got*/, bool fixed,
                            AddressRange wanted, std::vector<Address>& found) {
  const auto put = [&](const Value& value) {
    if (wanted.contains(value.value) && (fixed || !value.outright)) {
      found.push_back(value.value);
    }
  };
  for_each_address(
      code, address, Data, [&](Address, const Value& value, Register) { put(value); }, put);
}

template void append_constant_addresses<Endian::little>(ByteView, Address, const GlobalTable&, bool,
                                                        AddressRange,
                                                        std::vector<ConstantAddress>&);
template void append_constant_addresses<Endian::big>(ByteView, Address, const GlobalTable&, bool,
                                                     AddressRange, std::vector<ConstantAddress>&);
template void append_named_addresses<Endian::little>(ByteView, Address, const GlobalTable&, bool,
                                                     AddressRange, std::vector<Address>&);
template void append_named_addresses<Endian::big>(ByteView, Address, const GlobalTable&, bool,
                                                  AddressRange, std::vector<Address>&);

}  // namespace whocall::arm
