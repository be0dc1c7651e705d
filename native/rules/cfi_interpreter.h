// The one interpreter of call frame instructions. What they say goes to a sink, which keeps of it
// what its owner wants: all rows of a function, or two registers at one address.
// Source: DWARF 5, 6.4.2 "Call Frame Instructions".
//
// A sink has these members:
//   define_cfa(number, offset)      the CFA is a register and an offset,
//   set_cfa_register(number)        ... that offset and another register,
//   set_cfa_offset(offset)          ... that register and another offset,
//   set_cfa_expression(span)        or what an expression computes
//   stored_at_cfa(number, offset)   a register is stored there,
//   cfa_plus(number, offset)        is that itself,
//   in_register(number, other)      is in another one,
//   stored_at(number, span)         is stored where an expression says,
//   computed(number, span)          is what one computes,
//   undefined(number), same(number), restore(number)
//   bool remember(), bool recall()  false: too deep; nothing was remembered
//   keep_initial()                  the CIE's instructions end here
//   bool advance(address)           what holds up to there is complete; false: enough is known
#pragma once

#include <cstddef>
#include <cstdint>

#include "rules/byte_cursor.h"
#include "rules/dwarf.h"
#include "rules/frame_description.h"
#include "rules/pointer_encoding.h"

namespace whocall::rules {

// Rows remembered at a time. Compilers nest one or two deep, and the stack of a signal handler is
// small.
inline constexpr std::size_t kMostRemembered = 32;

enum class ProgramEnd : std::uint8_t { whole, enough, damaged };

template <typename Sink>
class CallFrameProgram {
 public:
  // `begin` is where the function begins.
  CallFrameProgram(const Cie& cie, std::uint64_t begin, Sink& sink)
      : cie_(cie), location_(begin), sink_(sink) {}

  // The CIE's instructions, then those of an FDE.
  ProgramEnd run(const ByteSpan& instructions) {
    if (execute(cie_.instructions) == ProgramEnd::damaged) {
      return ProgramEnd::damaged;
    }
    sink_.keep_initial();
    in_cie_ = false;
    return execute(instructions);
  }

 private:
  ProgramEnd execute(const ByteSpan& instructions) {
    ByteCursor code(instructions);
    while (!code.at_end()) {
      if (!step(code.take<std::uint8_t>(), code) || !code.ok()) {
        return ProgramEnd::damaged;
      }
      if (enough_) {
        return ProgramEnd::enough;
      }
    }
    return ProgramEnd::whole;
  }

  bool step(unsigned op, ByteCursor& code) {
    const unsigned operand = op & 0x3fU;
    switch (op & 0xc0U) {
      case dw::CFA_advance_loc:
        advance(operand);
        return true;
      case dw::CFA_offset:
        sink_.stored_at_cfa(operand, factored(code.uleb()));
        return true;
      case dw::CFA_restore:
        sink_.restore(operand);
        return true;
      default:
        return define_cfa(op, code) || move_or_keep(op, code) || define_register(op, code);
    }
  }

  bool define_cfa(unsigned op, ByteCursor& code) {
    switch (op) {
      case dw::CFA_def_cfa: {
        const std::uint64_t base = code.uleb();
        sink_.define_cfa(base, plain(code.uleb()));
        return true;
      }
      case dw::CFA_def_cfa_sf: {
        const std::uint64_t base = code.uleb();
        sink_.define_cfa(base, factored(code.sleb()));
        return true;
      }
      case dw::CFA_def_cfa_register:
        sink_.set_cfa_register(code.uleb());
        return true;
      case dw::CFA_def_cfa_offset:
        sink_.set_cfa_offset(plain(code.uleb()));
        return true;
      case dw::CFA_def_cfa_offset_sf:
        sink_.set_cfa_offset(factored(code.sleb()));
        return true;
      case dw::CFA_def_cfa_expression:
        sink_.set_cfa_expression(code.block(code.uleb()));
        return true;
      default:
        return false;
    }
  }

  bool move_or_keep(unsigned op, ByteCursor& code) {
    switch (op) {
      case dw::CFA_nop:
      case dw::CFA_GNU_window_save:  // AArch64: the return address is signed; masked when it is
                                     // read
        return true;
      case dw::CFA_advance_loc1:
        advance(code.take<std::uint8_t>());
        return true;
      case dw::CFA_advance_loc2:
        advance(code.take<std::uint16_t>());
        return true;
      case dw::CFA_advance_loc4:
        advance(code.take<std::uint32_t>());
        return true;
      case dw::CFA_MIPS_advance_loc8:
        advance(code.take<std::uint64_t>());
        return true;
      case dw::CFA_set_loc: {
        std::uint64_t location = 0;
        const bool read = read_pointer(code, cie_.pointer_encoding, cie_.context, location);
        move(read ? location : location_);
        return read;
      }
      case dw::CFA_GNU_args_size:
        code.uleb();
        return true;
      case dw::CFA_remember_state:
        return sink_.remember();
      case dw::CFA_restore_state:
        return sink_.recall();
      default:
        return false;
    }
  }

  bool define_register(unsigned op, ByteCursor& code) {
    const std::uint64_t number = code.uleb();
    switch (op) {
      case dw::CFA_offset_extended:
        sink_.stored_at_cfa(number, factored(code.uleb()));
        return true;
      case dw::CFA_offset_extended_sf:
        sink_.stored_at_cfa(number, factored(code.sleb()));
        return true;
      case dw::CFA_GNU_negative_offset_extended:
        sink_.stored_at_cfa(number, factored(0 - code.uleb()));
        return true;
      case dw::CFA_val_offset:
        sink_.cfa_plus(number, factored(code.uleb()));
        return true;
      case dw::CFA_val_offset_sf:
        sink_.cfa_plus(number, factored(code.sleb()));
        return true;
      case dw::CFA_expression:
        sink_.stored_at(number, code.block(code.uleb()));
        return true;
      case dw::CFA_val_expression:
        sink_.computed(number, code.block(code.uleb()));
        return true;
      case dw::CFA_register:
        sink_.in_register(number, code.uleb());
        return true;
      case dw::CFA_undefined:
        sink_.undefined(number);
        return true;
      case dw::CFA_same_value:
        sink_.same(number);
        return true;
      case dw::CFA_restore_extended:
        sink_.restore(number);
        return true;
      default:  // what nobody knows
        return false;
    }
  }

  void advance(std::uint64_t steps) { move(location_ + steps * cie_.code_alignment); }

  // A function's rows hold from its beginning on, whatever a CIE says, and ascend.
  void move(std::uint64_t to) {
    if (!in_cie_ && to > location_) {
      location_ = to;
      enough_ = !sink_.advance(to);
    }
  }

  static std::int64_t plain(std::uint64_t value) { return static_cast<std::int64_t>(value); }
  // A file may state any number: what does not fit wraps, as addresses do.
  [[nodiscard]] std::int64_t factored(std::uint64_t value) const {
    return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(cie_.data_alignment));
  }
  [[nodiscard]] std::int64_t factored(std::int64_t value) const {
    return factored(static_cast<std::uint64_t>(value));
  }

  const Cie& cie_;
  std::uint64_t location_;
  Sink& sink_;
  bool in_cie_ = true;
  bool enough_ = false;
};

}  // namespace whocall::rules
