// What instructions of ARM do with values, in A32 and T32: what both encodings have in common.
#pragma once

#include <initializer_list>
#include <optional>

#include "arch/arm/fields.h"
#include "arch/value_steps.h"

namespace whocall::arm {

// The pc is no value that is handed over; as an operand it is a constant.
class ValueParts : protected ValueStepsOf<4> {
 public:
  // `code` begins with the instruction, at `address`, and may go on behind it.
  ValueParts(ByteView code, Address address, bool thumb, ValueFlow& out)
      : ValueStepsOf(out, kPc), code_(code), address_(address), thumb_(thumb) {}

  // Whether it goes elsewhere, and its writes are done by those alone who go.
  [[nodiscard]] bool leaves() const { return leaves_; }

 protected:
  // bx and its kin.
  void go_to(Register from) {
    note(from, kWord);
    leaves_ = true;
  }
  void call() { lose(kLink); }
  void call(Register to);

  // In all of these the pc as a destination is a jump.
  void put_in(Register to, const ValueWrite& value);
  void move(Register to, Register from) { put_in(to, value_of(from)); }
  void add(Register to, Register from, std::int64_t amount);
  // to = from + index << shift.
  void add(Register to, Register from, Register index, unsigned shift);
  // What is computed out of these in a way that is not followed.
  void compute(Register to, std::initializer_list<Register> from);
  void compare(std::initializer_list<Register> registers);
  // Of `from` the lowest bits go up by `amount`, and the highest are lost.
  void shift_left(Register to, Register from, unsigned amount);
  // `count` bits of `from` from bit `low` on, widened.
  void extract(Register to, Register from, unsigned low, unsigned count, bool is_signed);
  // to = from, or from + what `part` has in its lowest bytes; turned before that where `turned`.
  void extend(Register to, Register from, Register part, std::uint8_t size, bool is_signed,
              bool turned);
  enum class Bits : std::uint8_t { set, cleared, kept };
  // orr, bic and and, of numbers.
  void change_bits(Register to, Register from, Bits change, std::uint32_t which);

  struct Access {
    Register value = 0;
    Register base = 0;
    std::int64_t offset = 0;  // bytes
    std::optional<Register> index{};
    unsigned shift = 0;  // of the index, to the left
    bool odd = false;    // the index is subtracted, or shifted in another way
    bool load = false;
    std::uint8_t size = kWord;
    bool is_signed = false;
    bool before = true;  // the base moves before the access, if it does
    bool writes_back = false;
  };
  void access(const Access& access);
  // ldrd and strd.
  void access_pair(const Access& first, Register second);
  void many(const Many& many);
  // ldrex and its kin, and strex, which says in `status` whether it did.
  void load_exclusive(Register base, std::initializer_list<Register> to);
  void store_exclusive(Register base, std::initializer_list<Register> from, Register status);
  // Coprocessors and vector registers; elements of vectors. As in Effects.
  void coprocessor(std::uint32_t word);
  void elements(std::uint32_t word);

  ByteView code_;
  Address address_;
  bool thumb_;

 private:
  [[nodiscard]] Address pc() const { return address_ + (thumb_ ? 4 : 8); }
  ValueWrite value_of(Register from, std::uint8_t size = kWord);
  [[nodiscard]] ValueAddress place_of(const Access& access) const;
  void transfer(Register value, const ValueAddress& place, const Access& access);
  void arrive(Register to, std::uint8_t size, const ValueWrite& value);
  void load_literal(const Access& access);
  void move_base(const Access& access);
  void load_many(const Many& many, std::int64_t first);
  void vectors(std::uint32_t word);
  void mix_address(const ValueAddress& place);

  bool leaves_ = false;
};

// One instruction, as if its condition held. False where the bytes are none.
bool read_values_a32(ByteView code, Address address, ValueFlow& out, bool& leaves);
bool read_values_t32(ByteView code, Address address, ValueFlow& out, bool& leaves);

}  // namespace whocall::arm
