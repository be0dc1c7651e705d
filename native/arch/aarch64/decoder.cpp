#include "arch/aarch64/decoder.h"

#include "arch/aarch64/fields.h"
#include "arch/assembly_text.h"
#include "arch/library_operation.h"

namespace whocall::aarch64 {
namespace {

using Flow = Instruction::Flow;
using Kind = Effect::Kind;

constexpr std::uint8_t kWidth = 4;

// One instruction, family by family.
class Reader {
 public:
  Reader(std::uint32_t word, Address address, Instruction& out)
      : word_(word), address_(address), out_(out) {}

  bool read() {
    switch (family(word_)) {
      case Family::immediates:
        immediates();
        return true;
      case Family::branches:
        return branches();
      case Family::memory:
        loads_and_stores();
        return true;
      case Family::registers:
        registers();
        return true;
      case Family::vectors:
        vectors();
        return true;
      case Family::scalable:
        scalable();
        return true;
      default:
        return false;
    }
  }

 private:
  void clobber(Register number) {
    if (number != kZero) {
      out_.add({Kind::clobber, number});
    }
  }

  // In additions and logical operations 31 is the stack pointer where no flags are set.
  void immediates() {
    const bool wide = bits(word_, 31, 1) != 0;
    const bool flags = bits(word_, 29, 1) != 0;
    if (is(word_, 0x1f800000, 0x11000000)) {  // add, sub
      const auto amount = static_cast<std::int64_t>(add_immediate(word_));
      if (flags && rd(word_) == kZero) {
        return;
      }
      if (wide && (!flags || rd(word_) != kZero)) {
        out_.add({Kind::set, rd(word_), rn(word_), bits(word_, 30, 1) != 0 ? -amount : amount});
      } else {
        out_.add({Kind::clobber, rd(word_)});
      }
    } else if (is(word_, 0x1f800000, 0x12000000) && bits(word_, 29, 2) != 3) {  // and, orr, eor
      out_.add({Kind::clobber, rd(word_)});
    } else if (is(word_, 0xffe00000, 0xd2800000) && rd(word_) != kZero) {  // movz xd
      out_.add({Kind::constant, rd(word_), 0,
                static_cast<std::int64_t>(std::uint64_t{bits(word_, 5, 16)})});
    } else if (is(word_, 0x7f800000, 0x72800000) && rd(word_) != kZero) {  // movk
      movk();
    } else if (is(word_, 0x7f800000, 0x52800000) && rd(word_) != kZero) {  // movz
      const unsigned shift = bits(word_, 21, 2) * 16;
      out_.add({Kind::constant, rd(word_), 0,
                static_cast<std::int64_t>(std::uint64_t{bits(word_, 5, 16)} << shift)});
    } else {
      clobber(rd(word_));  // adr, movn, bitfields, extr
    }
  }

  // A constant of more than 16 bits comes in parts: the lowest first, then the next ones. The
  // halves do not overlap, so that putting one in adds it.
  void movk() {
    const unsigned shift = bits(word_, 21, 2) * 16;
    out_.add({Kind::set, rd(word_), rd(word_),
              static_cast<std::int64_t>(std::uint64_t{bits(word_, 5, 16)} << shift)});
  }

  void registers() {
    if (is(word_, 0xffe0ffe0, 0xaa0003e0) && rm(word_) != kZero) {  // mov xd, xm
      if (rd(word_) != kZero) {
        out_.add({Kind::set, rd(word_), rm(word_)});
      }
    } else if (is(word_, 0xbfe00000, 0x8b200000) && rd(word_) == kSp) {
      add_to_stack_pointer();
    } else if (is(word_, 0xffe0fc00, 0xcb000000) && rn(word_) != kZero && rm(word_) != kZero &&
               rd(word_) != kZero) {  // sub xd, xn, xm
      out_.add({Kind::subtract, rd(word_), rn(word_), 0, rm(word_), 1});
    } else if (is(word_, 0x3fe00000, 0x3a400000)) {
      return;  // a conditional comparison sets flags alone
    } else if (is(word_, 0x3fe00000, 0x0b200000)) {
      out_.add({Kind::clobber, rd(word_)});  // add, sub with an extended register: 31 is sp
    } else {
      clobber(rd(word_));
    }
  }

  // add or sub sp, xn, xm, of a whole register that is not shifted.
  void add_to_stack_pointer() {
    const std::uint32_t option = bits(word_, 13, 3);
    const bool whole = (option & 3U) == 3 && bits(word_, 10, 3) == 0 && rm(word_) != kZero;
    if (whole) {
      out_.add(
          {bits(word_, 30, 1) != 0 ? Kind::subtract : Kind::add, kSp, rn(word_), 0, rm(word_), 1});
    } else {
      out_.add({Kind::clobber, kSp});
    }
  }

  // Moves from vector registers and conversions into general ones.
  void vectors() {
    const bool converts = is(word_, 0x5f20fc00, 0x1e200000);
    const std::uint32_t opcode = bits(word_, 16, 3);
    const bool to_general = converts && opcode != 2 && opcode != 3 && opcode != 7;
    const bool fixed_point = is(word_, 0x5f3e0000, 0x1e180000);
    const bool lane = is(word_, 0xbfe0ec00, 0x0e002c00);  // umov, smov
    if (to_general || fixed_point || lane) {
      clobber(rd(word_));
    }
  }

  // SVE: addvl and addpl move the stack pointer by what nobody knows before the program runs. The
  // others that count in general registers are not told from those that write vectors.
  void scalable() {
    if (is(word_, 0xffa0f800, 0x04205000)) {
      out_.add({Kind::clobber, rd(word_)});
    } else {
      clobber(rd(word_));
    }
  }

  bool branches() {
    if (is_call(word_) || is_jump(word_)) {
      out_.flow = is_call(word_) ? Flow::call : Flow::jump;
      out_.target = jump_target(word_, address_);
    } else if (is(word_, 0xff000010, 0x54000000) || is(word_, 0x7e000000, 0x34000000)) {
      branch(signed_bits(word_, 5, 19));  // b.cond, cbz, cbnz
    } else if (is(word_, 0x7e000000, 0x36000000)) {
      branch(signed_bits(word_, 5, 14));  // tbz, tbnz
    } else if (is(word_, 0xfe000000, 0xd6000000)) {
      return to_register();
    } else if (is(word_, 0xff000000, 0xd4000000)) {
      exceptions();
    } else if (is_hint(word_)) {
      out_.padding = is_nop(word_);
      out_.landing_pad = is_landing_pad(word_);
    } else if (is(word_, 0xffc00000, 0xd5000000)) {
      if (bits(word_, 21, 1) != 0) {
        clobber(rd(word_));  // mrs
      }
    } else {
      return false;
    }
    return true;
  }

  void branch(std::int64_t distance) {
    out_.flow = Flow::branch;
    out_.target = address_ + static_cast<Address>(distance * 4);
  }

  // br, blr, ret, and each of them with an authenticated address.
  bool to_register() {
    const std::uint32_t operation = bits(word_, 21, 2);
    if (bits(word_, 16, 5) != 31 || operation == 3 || bits(word_, 23, 1) != 0) {
      return false;
    }
    const bool returns = operation == 2;
    out_.flow = returns ? Flow::stop : operation == 1 ? Flow::call : Flow::indirect_jump;
    out_.returns = returns;
    return true;
  }

  // svc comes back with a result in x0; brk and hlt do not come back.
  void exceptions() {
    if (is(word_, 0xffe0001f, 0xd4000001)) {
      out_.add({Kind::clobber, 0});
    } else {
      out_.flow = Flow::stop;
    }
  }

  void loads_and_stores() {
    if (is(word_, 0x3a000000, 0x28000000)) {
      pair();
    } else if (is(word_, 0x3b000000, 0x39000000)) {
      const std::uint32_t scale = vector() ? vector_scale() : bits(word_, 30, 2);
      single(std::int64_t{bits(word_, 10, 12)} << scale);
    } else if (is(word_, 0x3b200000, 0x38000000)) {
      indexed();
    } else if (is(word_, 0x3b200c00, 0x38200800)) {
      if (is_load()) {
        loaded(rd(word_));  // from base and index
      }
    } else if (is(word_, 0x3b200c00, 0x38200000) || is(word_, 0x3b000000, 0x18000000)) {
      loaded(rd(word_));  // atomic operations; constants behind the code
    } else if (is(word_, 0x3f000000, 0x08000000)) {
      exclusive();
    } else if (is(word_, 0xbe800000, 0x0c800000)) {
      out_.add({Kind::clobber, rn(word_)});  // structures of vectors, which move their base on
    }
  }

  [[nodiscard]] bool vector() const { return bits(word_, 26, 1) != 0; }
  [[nodiscard]] bool is_load() const { return bits(word_, 22, 2) != 0; }
  [[nodiscard]] std::uint32_t vector_scale() const {
    return bits(word_, 30, 2) | bits(word_, 23, 1) << 2U;
  }
  void loaded(Register number) {
    if (!vector()) {
      clobber(number);
    }
  }

  // ldp, stp. The stack pointer moves before the words of a pair are written and after they are
  // read.
  void pair() {
    const auto second = static_cast<Register>(bits(word_, 10, 5));
    const std::uint32_t size = bits(word_, 30, 2);
    const std::uint32_t form = bits(word_, 23, 2);  // 1: behind, 3: before, 0 and 2: neither
    const bool load = bits(word_, 22, 1) != 0;
    const bool tags = !vector() && size == 1 && !load;  // stgp, which counts by 16
    const unsigned width = vector() ? 4U << size : size == 2 || tags ? 8 : 4;
    const std::int64_t amount = signed_bits(word_, 15, 7) * (tags ? 16 : width);
    const std::int64_t offset = (form & 1U) != 0 ? 0 : amount;
    if (form == 3) {
      out_.add({Kind::set, rn(word_), rn(word_), amount});
    }
    transfer(rd(word_), offset, width, load);
    transfer(second, offset + width, width, load);
    if (form == 1) {
      out_.add({Kind::set, rn(word_), rn(word_), amount});
    }
  }

  void transfer(Register number, std::int64_t offset, unsigned width, bool load) {
    const bool whole = width == 8 && !vector() && number != kZero;
    if (load) {
      if (whole) {
        out_.add({Kind::load, number, rn(word_), offset});
      } else {
        loaded(number);
      }
    } else if (whole) {
      out_.add({Kind::store, rn(word_), number, offset});
    } else {
      out_.add({Kind::store_other, rn(word_), 0, offset});
      if (width > 8) {
        out_.add({Kind::store_other, rn(word_), 0, offset + 8});
      }
    }
  }

  // ldr, str and those of smaller words, at `offset`.
  void single(std::int64_t offset) {
    const std::uint32_t size = bits(word_, 30, 2);
    if (size == 3 && bits(word_, 22, 2) == 2 && !vector()) {
      return;  // prfm
    }
    const unsigned width = vector() ? 1U << vector_scale() : 1U << size;
    const bool load = vector() ? bits(word_, 22, 1) != 0 : is_load();
    transfer(rd(word_), offset, width, load);
  }

  // The base moves on before, or behind, or not at all.
  void indexed() {
    const std::int64_t amount = signed_bits(word_, 12, 9);
    const std::uint32_t form = bits(word_, 10, 2);
    if (form == 3) {
      out_.add({Kind::set, rn(word_), rn(word_), amount});
    }
    single(form == 0 || form == 2 ? amount : 0);
    if (form == 1) {
      out_.add({Kind::set, rn(word_), rn(word_), amount});
    }
  }

  // ldxr and its kin, and compare-and-swap.
  void exclusive() {
    clobber(rm(word_));  // what came of a store; the word that was there
    if (bits(word_, 22, 1) != 0) {
      clobber(rd(word_));
      if (bits(word_, 21, 1) != 0) {
        clobber(static_cast<Register>(bits(word_, 10, 5)));
      }
    }
  }

  std::uint32_t word_;
  Address address_;
  Instruction& out_;
};

}  // namespace

std::optional<Instruction> Decoder::decode(ByteView code, Address address) {
  Instruction out;
  const auto word = word_at(code, 0);
  if (!word || !Reader(*word, address, out).read()) {
    return std::nullopt;
  }
  out.size = kWidth;
  return out;
}

std::string Decoder::text(ByteView code, Address address) {
  return assembly_text(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, code, address);
}

std::optional<Operation> Decoder::operation(ByteView code, Address address) {
  return library_operation(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, code, address);
}

}  // namespace whocall::aarch64
