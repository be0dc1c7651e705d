#include "arch/loongarch/decoder.h"

#include "arch/loongarch/fields.h"
#include "arch/loongarch/frame_facts.h"
#include "arch/zero_register.h"
#include "base/hex.h"

namespace whocall::loongarch {
namespace {

using Flow = Instruction::Flow;

// One instruction, by the upper six bits of its opcode.
class WordReader {
 public:
  WordReader(std::uint32_t word, Address address, Instruction& out)
      : word_(word), address_(address), out_(out), effects_(out) {}

  bool read() {
    const std::uint32_t group = bits(word_, 26, 6);
    switch (group) {
      case 0x00:
        if (word_ >> 24U != 1) {
          return integers();
        }
        floating_point();
        return true;
      case 0x02:  // floating point: fused, comparisons; vectors of four operands
      case 0x03:
        return true;
      case 0x04:  // addu16i.d
        effects_.set(rd(word_), rj(word_), si16(word_) * 0x10000);
        return true;
      case 0x05:
        upper_part();
        return true;
      case 0x06:  // pcaddi, pcalau12i
      case 0x07:  // pcaddu12i, pcaddu18i
        effects_.clobber(rd(word_));
        return true;
      case 0x1c:
      case 0x1d:
        vectors();
        return true;
      default:
        return group >= 0x10 ? branches(group) : memory(group);
    }
  }

 private:
  void upper_part() {
    if (is_lu12i(word_)) {
      effects_.constant(rd(word_), si20(word_) * 0x1000);
    } else {
      effects_.clobber(rd(word_));  // lu32i.d
    }
  }

  bool integers() {
    if (word_ >> 25U != 0) {
      immediates();
    } else if (is_add(word_)) {
      effects_.add(rd(word_), rj(word_), rk(word_));
    } else if (is(word_, 0xffff8000, 0x00118000)) {  // sub.d
      effects_.subtract(rd(word_), rj(word_), rk(word_));
    } else if (is_move(word_)) {
      effects_.set(rd(word_), rj(word_), 0);
    } else if (is(word_, 0xfffe0000, 0x002a0000)) {
      return trap();
    } else if (is(word_, 0xffff0000, 0x00010000)) {
      return rd(word_) == kZero;  // asrtle.d, asrtgt.d: addresses that go too far
    } else {
      effects_.clobber(rd(word_));
      return word_ >= 0x00000800;  // below lies what memory holds that nobody wrote
    }
    return true;
  }

  // syscall comes back with a result in a0; break does not come back.
  bool trap() {
    if (is(word_, 0xffff8000, 0x002b0000)) {
      effects_.clobber(kA0);
      return true;
    }
    out_.flow = Flow::stop;
    return is(word_, 0xffff8000, 0x002a0000);
  }

  void immediates() {
    if (is_addi(word_)) {
      effects_.set(rd(word_), rj(word_), si12(word_));
    } else if (is_nop(word_)) {
      out_.padding = true;
    } else if (is_ori(word_) && (rj(word_) == kZero || rj(word_) == rd(word_))) {
      // Of a constant: lu12i.w has put zeros where this puts bits, so that it adds them.
      effects_.set(rd(word_), rj(word_), ui12(word_));
    } else if (has_opcode(word_, 0x02800000) && rj(word_) == kZero) {  // li.w
      effects_.constant(rd(word_), si12(word_));
    } else {
      effects_.clobber(rd(word_));
    }
  }

  // Moves into general registers; all others write those of floating point or of conditions.
  void floating_point() {
    const std::uint32_t operation = word_ >> 10U;
    const bool to_general = operation == 0x452d || operation == 0x452e || operation == 0x452f ||
                            operation == 0x4532 || operation == 0x4537;
    if (to_general) {
      effects_.clobber(rd(word_));
    }
  }

  // vpickve2gr, xvpickve2gr: an element of a vector into a general register.
  void vectors() {
    if (is(word_, 0xfbff8000, 0x72ef8000) || is(word_, 0xfbff8000, 0x72f38000)) {
      effects_.clobber(rd(word_));
    }
  }

  bool memory(std::uint32_t group) {
    switch (group) {
      case 0x08:  // ll, sc
        effects_.clobber(rd(word_));
        if (bits(word_, 24, 1) != 0) {
          effects_.store_other(rj(word_), si14(word_) * 4);
        }
        return true;
      case 0x09:  // ldptr, stptr
        access(bits(word_, 24, 1) != 0, bits(word_, 25, 1) != 0, si14(word_) * 4);
        return true;
      case 0x0a:
        scalars();
        return true;
      case 0x0b:  // vld, vst, xvld, xvst
        if (bits(word_, 22, 1) != 0) {
          effects_.store_other(rj(word_), si12(word_));
        }
        return true;
      case 0x0c:  // vldrepl, vstelm and their kin, whose numbers count elements
        if (bits(word_, 24, 1) != 0) {
          effects_.store_other(rj(word_), 0);
        }
        return true;
      case 0x0e:
        return indexed();
      default:
        return false;  // what kernels alone may do, among others
    }
  }

  void access(bool stores, bool whole, std::int64_t offset) {
    if (stores && whole) {
      effects_.store(rj(word_), offset, rd(word_));
    } else if (stores) {
      effects_.store_other(rj(word_), offset);
    } else if (whole) {
      effects_.load(rd(word_), rj(word_), offset);
    } else {
      effects_.clobber(rd(word_));
    }
  }

  // ld.b to st.d; ld.bu, ld.hu, ld.wu, preld; fld.s, fst.s, fld.d, fst.d
  void scalars() {
    const std::uint32_t operation = bits(word_, 22, 4);
    if (operation < 8) {
      access(operation >= 4, operation % 4 == 3, si12(word_));
    } else if (operation < 11) {
      effects_.clobber(rd(word_));
    } else if (operation == 13 || operation == 15) {
      effects_.store_other(rj(word_), si12(word_));
    }
  }

  // Base and index, atomic operations, barriers, accesses with bounds.
  bool indexed() {
    const std::uint32_t operation = bits(word_, 15, 11);
    if (operation < 0xae) {
      const bool to_general = operation < 0x20 || (operation >= 0x40 && operation < 0x58);
      if (to_general) {  // loads; where stores go is not followed
        effects_.clobber(rd(word_));
      }
    } else if (operation < 0xe4) {
      return atomic();
    } else if (operation >= 0xf0 && operation < 0xf8) {  // ldgt, ldle
      effects_.clobber(rd(word_));
    }
    return true;
  }

  // LLVM's trap is an exchange that the manual forbids, amswap.w zero,ra,zero: "ud" of the GNU
  // assembler.
  bool atomic() {
    if (is(word_, 0xfffffc00, 0x38600400) && rd(word_) == rj(word_)) {
      out_.flow = Flow::stop;
      return true;
    }
    effects_.clobber(rd(word_));
    effects_.store_other(rj(word_), 0);
    return true;
  }

  bool branches(std::uint32_t group) {
    switch (group) {
      case 0x10:  // beqz, bnez
      case 0x11:
        branch(offs21(word_));
        return true;
      case 0x12:  // bceqz, bcnez
        branch(offs21(word_));
        return bits(word_, 9, 1) == 0;
      case 0x13:
        jump_by_register();
        return true;
      case 0x14:
      case 0x15:
        out_.flow = group == 0x15 ? Flow::call : Flow::jump;
        out_.target = address_ + static_cast<Address>(offs26(word_));
        return true;
      case 0x17:  // bne
        out_.add({Effect::Kind::compare, rj(word_), rd(word_)});
        branch(offs16(word_));
        out_.flow = Flow::branch_if_unequal;
        return true;
      case 0x16:  // beq, blt, bge, bltu, bgeu
      case 0x18:
      case 0x19:
      case 0x1a:
      case 0x1b:
        branch(offs16(word_));
        return true;
      default:
        return false;
    }
  }

  void branch(std::int64_t distance) {
    out_.flow = Flow::branch;
    out_.target = address_ + static_cast<Address>(distance);
  }

  void jump_by_register() {
    if (rd(word_) == kRa) {
      out_.flow = Flow::call;
    } else if (rd(word_) == kZero && rj(word_) == kRa && offs16(word_) == 0) {
      out_.flow = Flow::stop;
      out_.returns = true;
    } else {
      effects_.clobber(rd(word_));  // a slot of a linkage table leaves its own address there
      out_.flow = Flow::indirect_jump;
    }
  }

  std::uint32_t word_;
  Address address_;
  Instruction& out_;
  ZeroRegisterEffects effects_;
};

bool read_far_jump(std::uint32_t first, std::uint32_t second, Address address, Instruction& out) {
  if (!is_far_jump(first, second) || (rd(second) != kZero && rd(second) != kRa)) {
    return false;
  }
  ZeroRegisterEffects(out).clobber(rd(first));
  out.flow = rd(second) == kRa ? Flow::call : Flow::jump;
  out.target = far_target(first, second, address);
  out.size = 2 * kWidth;
  return true;
}

}  // namespace

std::optional<Instruction> Decoder::decode(ByteView code, Address address) {
  Instruction out;
  const auto word = word_at(code, 0);
  if (!word) {
    return std::nullopt;
  }
  const auto next = word_at(code, kWidth);
  if (next && read_far_jump(*word, *next, address, out)) {
    return out;
  }
  out.size = kWidth;
  return WordReader(*word, address, out).read() ? std::optional(out) : std::nullopt;
}

// As assemblers take what they have no word for: the library knows LoongArch from its sixth version
// on, which nobody has yet.
std::string Decoder::text(ByteView code, Address address) {
  const auto instruction = decode(code, address);
  std::string words;
  for (std::uint64_t at = 0; instruction && at < instruction->size; at += kWidth) {
    words += (at == 0 ? ".word " : ", ") + hex(word_at(code, at).value_or(0));
  }
  return words;
}

}  // namespace whocall::loongarch
