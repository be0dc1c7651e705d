// The fields of ARM instruction words, and what both encodings, A32 and T32, have in common.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "arch/arm/frame_facts.h"
#include "arch/instruction.h"
#include "base/byte_view.h"

namespace whocall::arm {

// Instructions are little-endian, whatever the data are (BE8).
inline std::optional<std::uint32_t> half_at(ByteView code, std::uint64_t at) {
  const auto half = ByteView(code.from(at).bytes(), Endian::little).read<std::uint16_t>(0);
  return half ? std::optional(std::uint32_t{*half}) : std::nullopt;
}
inline std::optional<std::uint32_t> word_at(ByteView code, std::uint64_t at) {
  return ByteView(code.from(at).bytes(), Endian::little).read<std::uint32_t>(0);
}

// Data between instructions are in the order of data.
inline std::optional<std::uint32_t> data_half_at(ByteView code, std::uint64_t at, Endian order) {
  const auto half = ByteView(code.from(at).bytes(), order).read<std::uint16_t>(0);
  return half ? std::optional(std::uint32_t{*half}) : std::nullopt;
}
inline std::optional<std::uint32_t> data_word_at(ByteView code, std::uint64_t at, Endian order) {
  return ByteView(code.from(at).bytes(), order).read<std::uint32_t>(0);
}

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1U << count) - 1);
}
constexpr bool bit(std::uint32_t word, unsigned at) { return (word >> at & 1U) != 0; }
constexpr bool is(std::uint32_t word, std::uint32_t mask, std::uint32_t value) {
  return (word & mask) == value;
}
constexpr Register number(std::uint32_t word, unsigned low, unsigned count = 4) {
  return static_cast<Register>(bits(word, low, count));
}

// The low `width` bits of a value as a signed number.
constexpr std::int64_t sign_extended(std::uint32_t value, unsigned width) {
  const std::int64_t limit = std::int64_t{1} << (width - 1);
  return (std::int64_t{value} ^ limit) - limit;
}
// A word of 32 bits as the distance that it is when it is added to an address.
constexpr std::int64_t distance(std::uint32_t value) { return static_cast<std::int32_t>(value); }
constexpr Address wrapped(Address address) { return address & 0xffffffffU; }

// What an immediate operand of A32 stands for: 8 bits, turned right.
constexpr std::uint32_t turned_constant(std::uint32_t word) {
  return std::rotr(bits(word, 0, 8), static_cast<int>(bits(word, 8, 4) * 2));
}
// The pieces of a constant of T32: i, imm3 and imm8; and what they stand for where it is modified:
// 8 bits, repeated or turned.
constexpr std::uint32_t constant_field(std::uint32_t word) {
  return bits(word, 26, 1) << 11U | bits(word, 12, 3) << 8U | bits(word, 0, 8);
}
constexpr std::uint32_t expanded_constant(std::uint32_t field) {
  const std::uint32_t byte = bits(field, 0, 8);
  if (bits(field, 10, 2) == 0) {
    switch (bits(field, 8, 2)) {
      case 0:
        return byte;
      case 1:
        return byte << 16U | byte;
      case 2:
        return byte << 24U | byte << 8U;
      default:
        return byte * 0x01010101U;
    }
  }
  return std::rotr(0x80U | bits(field, 0, 7), static_cast<int>(bits(field, 7, 5)));
}

// Half words of T32: whether another one belongs to it; whether up to four instructions behind it
// hang on a condition, and how many.
constexpr bool is_wide(std::uint32_t half) { return half >= 0xe800; }
constexpr bool is_if_then(std::uint32_t half) {
  return is(half, 0xff00, 0xbf00) && bits(half, 0, 4) != 0;
}
constexpr int if_then_count(std::uint32_t half) { return 4 - std::countr_zero(bits(half, 0, 4)); }

// How an instruction counts from its own address: two instructions on, at a multiple of 4 where it
// names data.
constexpr Address data_base(Address address, bool thumb) {
  return (address + (thumb ? 4 : 8)) & ~Address{3};
}

// ldm, stm, push and pop: bit N of `list` is register N.
struct Many {
  Register base = kSp;
  std::uint32_t list = 0;
  bool load = false;
  bool up = true;       // from the base to higher addresses
  bool before = false;  // the base moves before each word, not behind it
  bool writes_back = true;
};

// T32's ldm and stm of 32 bits; a miss for what else has their place.
inline std::optional<Many> wide_multiple(std::uint32_t word) {
  const std::uint32_t form = bits(word, 23, 2);
  if (form != 1 && form != 2) {  // from the base up, or down
    return std::nullopt;
  }
  return Many{.base = number(word, 16),
              .list = bits(word, 0, 16),
              .load = bit(word, 20),
              .up = form == 1,
              .before = form == 2,
              .writes_back = bit(word, 21)};
}

// What an instruction does, told to the list of its effects.
class Effects {
 public:
  using Kind = Effect::Kind;
  using Flow = Instruction::Flow;

  Effects(ByteView code, Address address, Instruction& out)
      : code_(code), address_(address), out_(out) {}

  [[nodiscard]] Address address() const { return address_; }

  void clobber(Register to) {
    if (to == kPc) {
      out_.flow = Flow::indirect_jump;
    } else {
      out_.add({Kind::clobber, to});
    }
  }
  void set(Register to, Register from, std::int64_t offset = 0) {
    if (to == kPc) {
      go_to(from);
    } else if (from == kPc) {
      clobber(to);  // an address in the code
    } else {
      out_.add({Kind::set, to, from, offset});
    }
  }
  void constant(Register to, std::uint32_t value) {
    if (to == kPc) {
      clobber(to);
    } else {
      out_.add({Kind::constant, to, 0, distance(value)});
    }
  }
  // to = from + index, or from - index.
  void sum(Register to, Register from, Register index, bool subtracts) {
    if (to == kPc || from == kPc || index == kPc) {
      clobber(to);
    } else {
      out_.add({subtracts ? Kind::subtract : Kind::add, to, from, 0, index, 1});
    }
  }

  // bx, and mov to the pc.
  void go_to(Register from) {
    out_.returns = from == kLink;
    out_.flow = out_.returns ? Flow::stop : Flow::indirect_jump;
  }
  void call(std::optional<Address> target) {
    out_.flow = Flow::call;
    out_.target = target;
  }
  void jump(Flow flow, Address target) {
    out_.flow = flow;
    out_.target = wrapped(target);
  }
  void stop() { out_.flow = Flow::stop; }
  void system_call() { clobber(0); }

  // ldr, str and those of smaller words, whose base moves on before the access, or behind it, or
  // not at all.
  struct Access {
    Register value = 0;
    Register base = 0;
    std::int64_t offset = 0;  // bytes
    bool load = false;
    bool whole = true;  // a word of 4 bytes
    bool before = true;
    bool writes_back = false;
  };
  void access(const Access& access);
  // From a place that the instruction counts from itself.
  void load_literal(Register to, std::int64_t offset, bool thumb, bool whole);
  void many(const Many& many);
  // Coprocessors and vector registers: the words have the same fields in A32 and, both halves
  // together, in T32. `word` without its condition.
  void coprocessor(std::uint32_t word);
  // A vector of elements, which moves its base on by its size or by a register.
  void elements(std::uint32_t word);

 private:
  void load(Register to, Register base, std::int64_t offset, bool pops);
  void store(Register base, Register from, std::int64_t offset, bool whole);

  ByteView code_;
  Address address_;
  Instruction& out_;
};

// What is done only where a condition holds leaves nothing known: a register may have changed, a
// jump may have been taken.
void make_conditional(Instruction& out);

// One instruction each; in T32 an IT instruction with those that depend on it. False where the
// bytes are none. `code` begins with it.
bool read_a32(ByteView code, Address address, Instruction& out);
bool read_t32(ByteView code, Address address, Instruction& out);

}  // namespace whocall::arm
