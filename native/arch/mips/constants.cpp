#include "arch/mips/constants.h"

#include <algorithm>
#include <array>

#include "arch/mips/decoder.h"
#include "base/interrupt.h"

namespace whocall::mips {
namespace {

constexpr std::uint64_t kWidth = 4;

// The fields of an instruction word.
struct Word {
  std::uint32_t bits = 0;

  [[nodiscard]] unsigned opcode() const { return bits >> 26U; }
  [[nodiscard]] unsigned function() const { return bits & 63U; }
  [[nodiscard]] Register rs() const { return static_cast<Register>(bits >> 21U & 31U); }
  [[nodiscard]] Register rt() const { return static_cast<Register>(bits >> 16U & 31U); }
  [[nodiscard]] Register rd() const { return static_cast<Register>(bits >> 11U & 31U); }
  [[nodiscard]] Address low() const {
    return static_cast<Address>(std::int64_t{static_cast<std::int16_t>(bits)});
  }

  [[nodiscard]] bool is_lui() const { return opcode() == 0x0f; }
  [[nodiscard]] bool adds_low() const { return opcode() == 0x09 || opcode() == 0x19; }
  [[nodiscard]] bool adds() const {
    return opcode() == 0 && (function() == 0x21 || function() == 0x2d);
  }
  [[nodiscard]] bool loads_word() const { return opcode() == 0x23 || opcode() == 0x37; }
  [[nodiscard]] bool has_address() const { return opcode() >= 0x20 || opcode() == 0x1a; }
  [[nodiscard]] bool jumps() const { return opcode() == 0 && function() == 0x08; }
  // Its slot is run only where it is taken.
  [[nodiscard]] bool is_likely() const {
    return (opcode() >= 0x14 && opcode() < 0x18) || (opcode() == 1 && (rt() & 2U) != 0);
  }
};

// What a register holds: an address, that and an index, the word there, or the address that lies so
// far behind the function's own, which t9 holds.
struct Value {
  enum class Kind : std::uint8_t { address, indexed, word, behind_function };
  Kind kind = Kind::address;
  Address address = 0;
  bool outright = false;          // the code names it with no help of the global offset table
  std::optional<Address> slot{};  // of that table, which it was loaded from
  Address begun = 0;              // where an instruction named the first part of it
  Register base = kT9;            // or ra, which holds an address near the function's own
};

class Values {
 public:
  Values(const Dialect& dialect, const GlobalTable& got)
      : wide_(dialect.wide_pointers),
        order_(dialect.endian),
        got_(got),
        mask_(wide_ ? ~Address{0} : 0xffffffff),
        gp_(got.address == 0 || !got.read ? 0 : (got.address + kGpBehindTable) & mask_) {}

  // What an instruction puts into its destination; a miss where that is not followed.
  std::optional<Value> put_by(Word word, Address here) {
    if (word.is_lui()) {
      return Value{.address = (word.low() << 16U) & mask_, .outright = true, .begun = here};
    }
    const auto& from = values_.at(word.rs());
    const auto& other = values_.at(word.rt());
    if (word.adds_low() && from && from->kind != Value::Kind::word) {
      Value sum = *from;
      sum.address = (from->address + word.low()) & mask_;
      sum.slot.reset();
      return sum;
    }
    const bool from_function = (word.rt() == kT9 && !t9_is_written_) || word.rt() == kRa;
    if (word.adds() && from && from->outright && !other && from_function) {
      Value distance = *from;
      distance.kind = Value::Kind::behind_function;
      distance.base = word.rt();
      return distance;
    }
    if (word.adds() && from.has_value() != other.has_value()) {
      const Value& known = from ? *from : *other;
      return known.kind == Value::Kind::address
                 ? std::optional(Value{Value::Kind::indexed, known.address})
                 : std::nullopt;
    }
    if (word.loads_word() && is_global_pointer(word.rs())) {
      return loaded((gp_ + word.low()) & mask_);
    }
    if (word.loads_word() && from && from->kind == Value::Kind::indexed) {
      return Value{Value::Kind::word, (from->address + word.low()) & mask_};
    }
    return std::nullopt;
  }
  // Where the function begins whose instructions have put the global pointer into a register; a
  // miss for other values.
  [[nodiscard]] std::optional<Address> function_of(const Value& value) const {
    constexpr Address kNear = 64;  // bytes from its beginning to where it does that
    const Address begin = (gp_ - value.address) & mask_;
    const bool is_near = begin <= value.begun + kWidth && value.begun <= begin + kNear;
    return gp_ != 0 && value.kind == Value::Kind::behind_function && is_near ? std::optional(begin)
                                                                             : std::nullopt;
  }
  // The address that an instruction reads or writes.
  [[nodiscard]] std::optional<Value> operand(Word word) const {
    const auto& from = values_.at(word.rs());
    if (!word.has_address() || !from || from->kind != Value::Kind::address) {
      return std::nullopt;
    }
    return Value{.address = (from->address + word.low()) & mask_, .outright = from->outright};
  }
  [[nodiscard]] const std::optional<Value>& at(Register number) const { return values_.at(number); }

  void put(Register number, const Value& value) {
    if (number != kZero) {
      values_.at(number) = value;
    }
    if (number == kGp && (value.outright || !value.slot)) {
      last_gp_ = value;
    }
  }
  // What else a unit writes.
  void forget_written(const Instruction& unit) {
    for (const Effect& effect : unit.list()) {
      const bool stores = effect.kind == Effect::Kind::store ||
                          effect.kind == Effect::Kind::store_other ||
                          effect.kind == Effect::Kind::compare;
      if (!stores && effect.destination < values_.size()) {
        values_.at(effect.destination).reset();
        // Hand-written code may add to it: _dl_runtime_resolve of glibc.
        t9_is_written_ = t9_is_written_ || effect.destination == kT9;
      }
    }
  }
  // What is still held behind a unit.
  void go_behind(const Instruction& unit) {
    using Flow = Instruction::Flow;
    if (unit.flow == Flow::call) {
      std::fill(values_.begin(), values_.begin() + kFirstPreserved, std::nullopt);
      std::fill(values_.begin() + kLastPreserved + 1, values_.end(), std::nullopt);
    } else if (unit.flow != Flow::next && unit.flow != Flow::branch &&
               unit.flow != Flow::branch_if_unequal) {
      values_.fill(std::nullopt);
    }
    const bool may_end = unit.flow == Flow::call || unit.flow == Flow::jump ||
                         unit.flow == Flow::indirect_jump || unit.flow == Flow::stop;
    t9_is_written_ = t9_is_written_ && !may_end;
  }

 private:
  static constexpr Register kFirstPreserved = 16;
  static constexpr Register kLastPreserved = 23;

  // Folklore. Situation: a large file has several global offset tables, and gp points into the one
  // that the linker chose for a function. Example: libLLVM. Remedy: a function that sets gp says
  // how far it is from its own beginning, or where; that has to agree with the table that is known.
  [[nodiscard]] bool is_global_pointer(Register number) const {
    const auto& value = number == kGp ? last_gp_ : values_.at(number);
    if (gp_ == 0 || !value) {
      return gp_ != 0 && number == kGp;
    }
    return value->kind == Value::Kind::behind_function
               ? function_of(*value).has_value()
               : number == kGp && value->outright && value->address == gp_;
  }

  [[nodiscard]] std::optional<Value> loaded(Address slot) const {
    std::array<std::byte, 8> bytes{};
    const std::size_t size = wide_ ? 8 : 4;
    if (got_.read(slot, std::span(bytes).first(size)) != size) {
      return std::nullopt;
    }
    const auto word = ByteView(bytes, order_).read_unsigned(0, static_cast<unsigned>(size));
    return Value{.address = word.value_or(0), .slot = slot};
  }

  bool wide_;
  Endian order_;
  const GlobalTable& got_;
  Address mask_;
  Address gp_;                      // 0: not known
  bool t9_is_written_ = false;      // it is no more what the function was called by
  std::optional<Value> last_gp_{};  // what a function has put into gp, which calls do not change
  std::array<std::optional<Value>, 32> values_{};
};

// Calls named(at, value, destination) for each address that an instruction of `code` takes,
// read(address) for each that one reads, writes or counts from, and jumped(table) for each that a
// jump goes by; `at` is the unit's, as the decoder makes them.
template <typename Named, typename Read, typename Jumped>
void for_each_address(const Dialect& dialect, ByteView code, Address address,
                      const GlobalTable& got, const Named& named, const Read& read,
                      const Jumped& jumped) {
  Decoder decoder(dialect);
  Values values(dialect, got);
  std::size_t asked = 0;
  for (std::uint64_t at = (kWidth - address % kWidth) % kWidth; at + kWidth <= code.size();) {
    check_interrupt_at(asked++, kManyEntries);
    const auto unit = decoder.decode(code.from(at), address + at);
    const std::uint64_t size = unit ? unit->size : kWidth;
    const auto word_at = [&](std::uint64_t where) {
      const auto word = code.read<std::uint32_t>(where).value_or(0);
      return Word{code.endian() == dialect.endian ? word : swap_bytes(word)};
    };
    const Word first = word_at(at);
    const Word word = word_at(at + size - kWidth);  // of a jump, its slot
    const bool runs = unit && (size == kWidth || !first.is_likely());
    const auto value = runs ? values.put_by(word, address + at) : std::nullopt;
    const Register destination = word.adds() ? word.rd() : word.rt();
    if (const auto operand = runs ? values.operand(word) : std::nullopt) {
      read(*operand);
    }
    if (value && !word.is_lui() && value->kind == Value::Kind::address) {
      named(address + at, *value, destination);
    }
    const auto function = value ? values.function_of(*value) : std::nullopt;
    if (function && value->base == kT9) {
      read(Value{.address = *function});
    }
    const auto& by = values.at(first.rs());
    if (first.jumps() && by && by->kind == Value::Kind::word) {
      jumped(by->address);
    }
    if (unit) {
      values.forget_written(*unit);
    }
    if (value) {
      values.put(destination, *value);
    }
    if (unit) {
      values.go_behind(*unit);
    }
    at += size;
  }
}

constexpr auto kIgnored = [](auto...) {};

}  // namespace

void append_constant_addresses(const Dialect& dialect, ByteView code, Address address,
                               const GlobalTable& got, bool fixed, AddressRange wanted,
                               std::vector<ConstantAddress>& found) {
  for_each_address(
      dialect, code, address, got,
      [&](Address at, const Value& value, Register destination) {
        const bool is_wanted = wanted.contains(value.address) && (!value.outright || fixed);
        if (is_wanted || value.slot) {
          found.push_back({.at = at,
                           .value = is_wanted ? value.address : 0,
                           .destination = destination,
                           .slot = value.slot});
        }
      },
      kIgnored, kIgnored);
}

void append_named_addresses(const Dialect& dialect, ByteView code, Address address,
                            const GlobalTable& got, bool fixed, AddressRange wanted,
                            std::vector<Address>& found) {
  const auto put = [&](const Value& value) {
    if (wanted.contains(value.address) && (fixed || !value.outright)) {
      found.push_back(value.address);
    }
  };
  for_each_address(
      dialect, code, address, got, [&](Address, const Value& value, Register) { put(value); }, put,
      kIgnored);
}

void append_jump_tables(const Dialect& dialect, ByteView code, std::vector<Address>& tables) {
  for_each_address(dialect, code, 0, GlobalTable{}, kIgnored, kIgnored,
                   [&](Address table) { tables.push_back(table); });
}

// Folklore. Situation: a function that saves nothing stands behind a call that never returns.
// Example: alias_compare of glibc behind abort. Remedy: t9 holds a function's address only where it
// begins.
bool begins_with_own_distance(const Dialect& dialect, ByteView code) {
  const auto word_at = [&](std::uint64_t where) {
    const auto word = code.read<std::uint32_t>(where).value_or(0);
    return Word{code.endian() == dialect.endian ? word : swap_bytes(word)};
  };
  const Word first = word_at(0);
  const Word second = word_at(kWidth);
  return first.is_lui() && second.adds() && second.rd() == first.rt() &&
         second.rs() == first.rt() && second.rt() == kT9;
}

}  // namespace whocall::mips
