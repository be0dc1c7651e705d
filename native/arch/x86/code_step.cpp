// x86-64 instructions: how long each is, and what those do that move the stack pointer, the frame
// pointer or the place. What else compilers let change the stack pointer makes it lost.
#include "arch/x86/code_step.h"

#include <algorithm>

#include "arch/x86/step_form.h"

namespace whocall::x86 {
namespace {

class InstructionReader : X86Form {
 public:
  using X86Form::X86Form;

  CodeStep read() {
    read_prefixes();
    const std::uint8_t opcode = next();
    if (opcode == 0x0f) {
      read_two_bytes(next());
    } else if (opcode == 0xc5 || opcode == 0xc4 || opcode == 0x62 || (opcode == 0x8f && is_xop())) {
      read_vector(opcode);
    } else {
      read_one_byte(opcode);
    }
    if (at_ > size_ || is_unknown_) {
      return {};
    }
    step_.size = static_cast<std::uint8_t>(at_);
    if (is_relative_) {
      step_.target = address_ + at_ + static_cast<std::uintptr_t>(std::intptr_t{distance_});
      if (step_.flow == Flow::call && distance_ == 0) {  // it asks where it is
        step_.flow = Flow::next;
        moves(-kWord);
      }
    }
    return step_;
  }

 private:
  void read_one_byte(std::uint8_t opcode) {
    if (opcode < 0x40) {
      read_sum(opcode);
    } else if (opcode >= 0x50 && opcode < 0x60) {
      read_push_or_pop(opcode);
    } else if ((opcode >= 0x70 && opcode < 0x80) || (opcode >= 0xe0 && opcode < 0xe4)) {
      flows(Flow::branch, 1);
    } else if (opcode >= 0x90 && opcode < 0x98) {  // exchanges, and nop
      lose((opcode & 7U) | (rex_ & 1U) << 3U);
      step_.is_padding = opcode == 0x90 && (rex_ & 1U) == 0;
    } else if (opcode >= 0xb0 && opcode < 0xc0) {
      lose(opcode < 0xb8 ? kNone : (opcode & 7U) | (rex_ & 1U) << 3U);
      skip(opcode < 0xb8 ? Tail::byte : Tail::wide);
    } else if (opcode >= 0xd8 && opcode < 0xe0) {
      read_operands();
    } else {
      read_others(opcode);
    }
  }

  // add, or, adc, sbb, and, sub, xor, cmp. Where a loop touches page after page of a large frame,
  // it holds the stack pointer against the end, so that one that is compared is lost as well.
  void read_sum(std::uint8_t opcode) {
    const unsigned form = opcode & 7U;
    if (form < 4) {
      read_operands();
      if (form == 1 && mode_ == 3) {
        lose(rm_);
      } else if (form == 3) {
        lose(reg_);
      }
      if (opcode >= 0x38) {
        step_.fp = Pointer::same;
        step_.sp = reg_ == kSp || (mode_ == 3 && rm_ == kSp) ? Pointer::lost : Pointer::same;
      }
    } else if (form < 6) {
      skip(form == 4 ? Tail::byte : Tail::word);
    } else {
      is_unknown_ = true;
    }
  }

  void read_push_or_pop(std::uint8_t opcode) {
    const unsigned number = (opcode & 7U) | (rex_ & 1U) << 3U;
    const bool pushes = opcode < 0x58;
    moves(pushes ? -kWord : kWord);
    if (number == kFp) {
      step_.saves_fp = pushes;
      step_.restores_fp = !pushes;
      step_.fp_place = pushes ? 0 : -kWord;
    } else if (number == kSp && !pushes) {
      step_.sp = Pointer::lost;
    }
  }

  // mov, both ways.
  void read_move(std::uint8_t opcode) {
    read_operands();
    const bool is_load = opcode == 0x8b;
    if (mode_ == 3) {
      copies(is_load ? reg_ : rm_, is_load ? rm_ : reg_, 0);
    } else if (is_load) {
      lose(reg_);
      if (reg_ == kFp && is_at(kSp) && is_wide()) {
        step_.fp = Pointer::same;
        step_.restores_fp = true;
        step_.fp_place = displacement_;
      }
    } else if (reg_ == kFp && is_at(kSp) && is_wide()) {
      step_.saves_fp = true;
      step_.fp_place = displacement_;
    }
  }

  // A sum with a number.
  void read_number_sum(Tail tail, bool is_of_bytes) {
    read_operands();
    skip(tail);
    const unsigned what = reg_ & 7U;
    if (mode_ != 3 || is_of_bytes || (rm_ != kSp && rm_ != kFp)) {
      return;
    }
    if (rm_ == kSp && is_wide() && (what == 0 || what == 5)) {
      moves(what == 0 ? number_ : -number_);
    } else if (rm_ == kSp || what != 7) {
      lose(rm_);
    }
  }

  void read_others(std::uint8_t opcode) {
    switch (opcode) {
      case 0x63:  // movsxd
        read_operands();
        return lose(reg_);
      case 0x68:
      case 0x6a:
        moves(-kWord);
        return skip(opcode == 0x68 ? Tail::word : Tail::byte);
      case 0x69:  // imul
      case 0x6b:
        read_operands();
        lose(reg_);
        return skip(opcode == 0x69 ? Tail::word : Tail::byte);
      case 0x80:
      case 0x83:
        return read_number_sum(Tail::byte, opcode == 0x80);
      case 0x81:
        return read_number_sum(Tail::word, false);
      case 0x84:  // test
      case 0x85:
      case 0x88:  // mov of a byte, of a segment's register
      case 0x8a:
      case 0x8c:
      case 0x8e:
      case 0x86:
      case 0xd0:  // shifts
      case 0xd2:
        return read_operands();
      case 0x87:  // xchg
        read_operands();
        lose(reg_);
        return lose(mode_ == 3 ? rm_ : kNone);
      case 0x89:
      case 0x8b:
        return read_move(opcode);
      case 0x8d:
        read_operands();
        lose(reg_);
        return is_at(kSp) || is_at(kFp) ? copies(reg_, rm_, displacement_) : void();
      case 0x8f:  // pop
        read_operands();
        moves(kWord);
        is_unknown_ = is_unknown_ || (reg_ & 7U) != 0;
        return lose(mode_ == 3 ? rm_ : kNone);
      case 0x9c:
      case 0x9d:
        return moves(opcode == 0x9c ? -kWord : kWord);
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3:
        return skip(Tail::absolute);
      case 0xa8:
      case 0xa9:
        return skip(opcode == 0xa8 ? Tail::byte : Tail::word);
      case 0xc0:
      case 0xc1:
      case 0xd1:
      case 0xd3:
        read_operands();
        lose(mode_ == 3 && opcode != 0xc0 ? rm_ : kNone);
        return skip(opcode < 0xd0 ? Tail::byte : Tail::none);
      default:
        return read_flow(opcode);
    }
  }

  void read_flow(std::uint8_t opcode) {
    switch (opcode) {
      case 0xc2:
      case 0xca:
      case 0xc3:
      case 0xcb:
        skip((opcode & 1U) != 0 ? Tail::none : Tail::half);
        step_.flow = Flow::ret;
        return;
      case 0xcc:
      case 0xcf:
      case 0xf4:
        step_.flow = Flow::end;
        return;
      case 0xc9:  // leave
        step_.sp = Pointer::from_fp;
        step_.sp_offset = kWord;
        step_.restores_fp = true;
        step_.fp_place = -kWord;
        return;
      case 0xe8:
      case 0xe9:
        return flows(opcode == 0xe8 ? Flow::call : Flow::jump, 4);
      case 0xeb:
        return flows(Flow::jump, 1);
      case 0xc6:
      case 0xc7:
        read_operands();
        lose(mode_ == 3 && opcode == 0xc7 ? rm_ : kNone);
        return skip(opcode == 0xc6 ? Tail::byte : Tail::word);
      case 0xcd:
      case 0xe4:
      case 0xe5:
      case 0xe6:
      case 0xe7:
        return skip(Tail::byte);
      case 0xf6:
      case 0xf7:
        read_operands();
        lose(mode_ == 3 && opcode == 0xf7 && (reg_ & 6U) == 2 ? rm_ : kNone);
        return skip((reg_ & 6U) != 0 ? Tail::none : opcode == 0xf6 ? Tail::byte : Tail::word);
      case 0xfe:
      case 0xff:
        return read_group_5(opcode);
      default:
        // What has no operands; enter, and what this mode does not have, is not known.
        is_unknown_ = (opcode >= 0x60 && opcode < 0x68) || opcode == 0x82 || opcode == 0x9a ||
                      opcode == 0xc8 || opcode == 0xce || (opcode >= 0xd4 && opcode < 0xd7) ||
                      opcode == 0xea;
    }
  }

  void read_group_5(std::uint8_t opcode) {
    read_operands();
    const unsigned what = reg_ & 7U;
    if (what < 2) {
      lose(mode_ == 3 && opcode == 0xff ? rm_ : kNone);
    } else if (opcode == 0xfe || what == 7) {
      is_unknown_ = true;
    } else if (what == 6) {
      moves(-kWord);
    } else {
      step_.flow = what < 4 ? Flow::call : Flow::jump;
      step_.is_tail_call = what == 4 && mode_ != 3 && !has_index_;
    }
  }

  void read_two_bytes(std::uint8_t opcode) {
    if (opcode == 0x38 || opcode == 0x3a) {
      next();
      read_operands();
      return skip(opcode == 0x3a ? Tail::byte : Tail::none);
    }
    if (opcode >= 0x80 && opcode < 0x90) {
      return flows(Flow::branch, 4);
    }
    if (opcode == 0x0b) {
      step_.flow = Flow::end;
      return;
    }
    if (opcode >= 0xc8 && opcode < 0xd0) {
      return lose((opcode & 7U) | (rex_ & 1U) << 3U);
    }
    constexpr std::uint8_t kPlain[] = {0x05, 0x06, 0x07, 0x08, 0x09, 0x0e, 0x30, 0x31, 0x32, 0x33,
                                       0x34, 0x35, 0x37, 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa};
    if (std::ranges::find(kPlain, opcode) != kPlain + sizeof kPlain) {
      const bool pushes = opcode == 0xa0 || opcode == 0xa8;
      const bool pops = opcode == 0xa1 || opcode == 0xa9;
      return pushes || pops ? moves(pushes ? -kWord : kWord) : void();
    }
    read_operands();
    step_.is_padding = opcode == 0x1f;
    if (opcode == 0xb9 || opcode == 0xff) {  // ud1, ud0
      step_.flow = Flow::end;
    } else if ((opcode >= 0x40 && opcode < 0x50) || opcode == 0xaf || (opcode & 0xf6U) == 0xb6 ||
               opcode == 0xb8 || opcode == 0xbc || opcode == 0xbd) {
      lose(reg_);  // cmov, imul, movzx, movsx, popcnt, bsf, bsr
    } else if (mode_ == 3 && (opcode == 0x7e || opcode == 0xa4 || opcode == 0xa5 ||
                              (opcode & 0xe7U) == 0xa3 || opcode == 0xba || opcode == 0xc1)) {
      lose(rm_);  // movq from a vector, shld, shrd, bit tests and xadd
    }
    skip(has_number(opcode) || opcode == 0x0f ? Tail::byte : Tail::none);
  }

  // Of the opcodes behind 0f, and of those of vectors that mean the same.
  static bool has_number(std::uint8_t opcode) {
    return (opcode >= 0x70 && opcode < 0x74) || opcode == 0xa4 || opcode == 0xac ||
           opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode < 0xc7);
  }

  // Where pop would have ModRM, its prefix has a number that is none of pop's.
  [[nodiscard]] bool is_xop() const { return at_ < size_ && (code_[at_] & 31U) >= 8; }

  // The prefixes VEX, EVEX and XOP: of what follows no compiler lets any give a result to the stack
  // pointer.
  void read_vector(std::uint8_t prefix) {
    const std::uint8_t first = next();
    unsigned map = 1;
    if (prefix != 0xc5) {
      map = first & (prefix == 0x62 ? 7U : 31U);
      next();
    }
    if (prefix == 0x62) {
      next();
    }
    const std::uint8_t opcode = next();
    const bool is_map = prefix == 0x8f ? map <= 10 : map != 0 && map != 4 && map <= 6;
    is_unknown_ = is_unknown_ || !is_map || rex_ != 0;
    if (map == 1 && opcode == 0x77 && prefix != 0x62) {
      return;
    }
    // Other registers do not matter: bases and indices are of memory alone.
    read_operands();
    const bool has_byte = map == 3 || map == 8 || (map == 1 && has_number(opcode));
    skip(has_byte ? Tail::byte : map == 10 ? Tail::word : Tail::none);
  }
};

}  // namespace

CodeStep read_step(const std::uint8_t* code, std::size_t size, std::uintptr_t address) {
  return InstructionReader(code, size, address).read();
}

}  // namespace whocall::x86
