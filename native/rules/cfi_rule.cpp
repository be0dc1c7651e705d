// Source: DWARF 5, 6.4.2 "Call Frame Instructions".
#include "rules/cfi_rule.h"

#include <array>

namespace whocall::rules {
namespace {

struct Saved {
  enum class Kind : std::uint8_t { same, at_offset, at_fp, undefined, unknown };
  Kind kind = Kind::same;
  std::int64_t offset = 0;  // bytes from the CFA, or from the frame pointer
};

struct Row {
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  ByteSpan cfa_expression{};  // empty: register and offset
  Saved fp{};
  Saved ret{};
};

constexpr unsigned kBaseRegister = 0x70;  // DW_OP_breg0
constexpr std::size_t kDeepest = 8;       // rows remembered at a time: compilers never need two

class Program {
 public:
  Program(const FrameDescription& description, const FrameRegisters& registers,
          std::uint64_t address)
      : description_(description),
        registers_(registers),
        wanted_(address),
        at_(description.begin) {}

  bool run() {
    if (!run(description_.initial)) {
      return false;
    }
    first_ = row_;
    return run(description_.own);
  }
  [[nodiscard]] const Row& row() const { return row_; }

 private:
  // Until the instructions end, or lead behind the wanted address.
  bool run(const ByteSpan& instructions) {
    ByteCursor cursor(instructions);
    while (!cursor.at_end() && !behind_) {
      if (!one(cursor) || !cursor.ok()) {
        return false;
      }
    }
    return true;
  }

  void advance(std::uint64_t steps) {
    const std::uint64_t to = at_ + steps * description_.code_alignment;
    behind_ = to > wanted_ || to < at_;
    at_ = to;
  }

  Saved* place_of(std::uint64_t number) {
    if (number == registers_.fp) {
      return &row_.fp;
    }
    return number == description_.return_address ? &row_.ret : nullptr;
  }
  void set(std::uint64_t number, Saved saved) {
    if (Saved* const place = place_of(number)) {
      *place = saved;
    }
  }
  // A file may state any number: what does not fit wraps, as addresses do.
  [[nodiscard]] std::int64_t scaled(std::int64_t factored) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(factored) *
                                     static_cast<std::uint64_t>(description_.data_alignment));
  }
  void set_offset(std::uint64_t number, std::int64_t factored) {
    set(number, {Saved::Kind::at_offset, scaled(factored)});
  }
  void restore(std::uint64_t number) {
    if (Saved* const place = place_of(number)) {
      *place = number == registers_.fp ? first_.fp : first_.ret;
    }
  }
  void define_cfa(std::uint64_t number, std::int64_t offset) {
    row_.cfa_register = number;
    row_.cfa_offset = offset;
    row_.cfa_expression = {};
  }

  bool remember() {
    if (depth_ == kept_.size()) {
      return false;
    }
    kept_[depth_++] = row_;
    return true;
  }
  bool recall() {
    if (depth_ == 0) {
      return false;
    }
    row_ = kept_[--depth_];
    return true;
  }

  // Empty where it is not all there.
  static ByteSpan block(ByteCursor& cursor) {
    const std::uint64_t size = cursor.uleb();
    const ByteSpan rest = cursor.rest();
    cursor.skip(size);
    return cursor.ok() ? ByteSpan{rest.bytes, rest.begin, size} : ByteSpan{};
  }

  bool one(ByteCursor& cursor) {
    const unsigned code = cursor.take<std::uint8_t>();
    const unsigned operand = code & 0x3fU;
    switch (code >> 6U) {
      case 1:  // DW_CFA_advance_loc
        advance(operand);
        return true;
      case 2:  // DW_CFA_offset
        set_offset(operand, static_cast<std::int64_t>(cursor.uleb()));
        return true;
      case 3:  // DW_CFA_restore
        restore(operand);
        return true;
      default:
        return other(code, cursor);
    }
  }

  bool other(unsigned code, ByteCursor& cursor) {
    switch (code) {
      case 0x00:  // DW_CFA_nop
      case 0x2d:  // DW_CFA_AARCH64_negate_ra_state: masked anyway
        return true;
      case 0x02:  // DW_CFA_advance_loc1
        advance(cursor.take<std::uint8_t>());
        return true;
      case 0x03:  // DW_CFA_advance_loc2
        advance(cursor.take<std::uint16_t>());
        return true;
      case 0x04:  // DW_CFA_advance_loc4
        advance(cursor.take<std::uint32_t>());
        return true;
      case 0x0a:  // DW_CFA_remember_state
        return remember();
      case 0x0b:  // DW_CFA_restore_state
        return recall();
      case 0x0e:  // DW_CFA_def_cfa_offset
        row_.cfa_offset = static_cast<std::int64_t>(cursor.uleb());
        return true;
      case 0x0d:  // DW_CFA_def_cfa_register
        row_.cfa_register = cursor.uleb();
        return true;
      case 0x13:  // DW_CFA_def_cfa_offset_sf
        row_.cfa_offset = scaled(cursor.sleb());
        return true;
      case 0x0f:  // DW_CFA_def_cfa_expression
        row_.cfa_expression = block(cursor);
        return true;
      case 0x2e:  // DW_CFA_GNU_args_size
        cursor.uleb();
        return true;
      default:
        return with_register(code, cursor);
    }
  }

  bool with_register(unsigned code, ByteCursor& cursor) {
    const std::uint64_t number = cursor.uleb();
    switch (code) {
      case 0x05:  // DW_CFA_offset_extended
        set_offset(number, static_cast<std::int64_t>(cursor.uleb()));
        return true;
      case 0x06:  // DW_CFA_restore_extended
        restore(number);
        return true;
      case 0x07:  // DW_CFA_undefined
        set(number, {Saved::Kind::undefined});
        return true;
      case 0x08:  // DW_CFA_same_value
        set(number, {Saved::Kind::same});
        return true;
      case 0x09:  // DW_CFA_register
      case 0x14:  // DW_CFA_val_offset
        cursor.uleb();
        set(number, {Saved::Kind::unknown});
        return true;
      case 0x15:  // DW_CFA_val_offset_sf
        cursor.sleb();
        set(number, {Saved::Kind::unknown});
        return true;
      case 0x0c:  // DW_CFA_def_cfa
        define_cfa(number, static_cast<std::int64_t>(cursor.uleb()));
        return true;
      case 0x12:  // DW_CFA_def_cfa_sf
        define_cfa(number, scaled(cursor.sleb()));
        return true;
      case 0x11:  // DW_CFA_offset_extended_sf
        set_offset(number, cursor.sleb());
        return true;
      case 0x2f:  // DW_CFA_GNU_negative_offset_extended
        set_offset(number, static_cast<std::int64_t>(0 - cursor.uleb()));
        return true;
      case 0x10:  // DW_CFA_expression
        saved_by(number, block(cursor));
        return true;
      case 0x16:  // DW_CFA_val_expression
        block(cursor);
        set(number, {Saved::Kind::unknown});
        return true;
      default:  // DW_CFA_set_loc, which nobody writes, and what is not known
        return false;
    }
  }

  // GCC saves the frame pointer of a realigned frame where the new one points: DW_OP_breg 0.
  void saved_by(std::uint64_t number, const ByteSpan& expression) {
    ByteCursor cursor(expression);
    const bool from_fp = cursor.take<std::uint8_t>() == kBaseRegister + registers_.fp;
    const std::int64_t offset = cursor.sleb();
    const bool simple = from_fp && cursor.ok() && cursor.at_end();
    set(number, {simple ? Saved::Kind::at_fp : Saved::Kind::unknown, offset});
  }

  const FrameDescription& description_;
  const FrameRegisters& registers_;
  std::uint64_t wanted_;
  std::uint64_t at_;
  bool behind_ = false;
  Row row_{};
  Row first_{};
  std::array<Row, kDeepest> kept_{};
  std::size_t depth_ = 0;
};

// A realigned frame keeps its CFA in a word below the frame pointer: DW_OP_breg N; DW_OP_deref.
bool is_stored_below(const ByteSpan& expression, std::uint64_t fp, std::int64_t& offset) {
  ByteCursor cursor(expression);
  const bool from_fp = cursor.take<std::uint8_t>() == kBaseRegister + fp;
  offset = cursor.sleb();
  return from_fp && cursor.take<std::uint8_t>() == 0x06 && cursor.ok() && cursor.at_end();
}

// Stubs of imported functions push a word in their second half, which x86 linkers say with one
// expression for all of them: sp + word + ((pc & 15) >= LIMIT ? word : 0).
//   DW_OP_breg sp; DW_OP_breg pc 0; DW_OP_lit15; DW_OP_and; DW_OP_lit LIMIT; DW_OP_ge;
//   DW_OP_lit2 or 3; DW_OP_shl; DW_OP_plus
bool is_in_stubs(const ByteSpan& expression, const FrameRegisters& registers,
                 std::uint64_t return_address, std::uint64_t address, std::int64_t& offset) {
  ByteCursor cursor(expression);
  const bool from_sp = cursor.take<std::uint8_t>() == kBaseRegister + registers.sp;
  offset = cursor.sleb();
  const bool by_pc = cursor.take<std::uint8_t>() == kBaseRegister + return_address &&
                     cursor.sleb() == 0 && cursor.take<std::uint8_t>() == 0x3f &&
                     cursor.take<std::uint8_t>() == 0x1a;
  const unsigned limit = cursor.take<std::uint8_t>() - 0x30U;
  const bool compared = limit < 16 && cursor.take<std::uint8_t>() == 0x2a;
  const unsigned shift = cursor.take<std::uint8_t>() - 0x30U;
  const bool added = shift < 4 && cursor.take<std::uint8_t>() == 0x24 &&
                     cursor.take<std::uint8_t>() == 0x22 && cursor.at_end();
  if (compared && added && (address & 15U) >= limit) {
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + (1U << shift));
  }
  return from_sp && by_pc && compared && added && cursor.ok();
}

bool fits(std::int64_t offset) { return offset == static_cast<std::int32_t>(offset); }

bool find_cfa(const Row& row, const FrameDescription& description, const FrameRegisters& registers,
              std::uint64_t address, FrameRule& rule) {
  std::int64_t offset = row.cfa_offset;
  if (row.cfa_expression.size == 0) {
    if (row.cfa_register != registers.sp && row.cfa_register != registers.fp) {
      return false;
    }
    rule.cfa = row.cfa_register == registers.sp ? FrameRule::Cfa::from_sp : FrameRule::Cfa::from_fp;
  } else if (is_stored_below(row.cfa_expression, registers.fp, offset)) {
    rule.cfa = FrameRule::Cfa::stored_at_fp;
  } else if (is_in_stubs(row.cfa_expression, registers, description.return_address, address,
                         offset)) {
    rule.cfa = FrameRule::Cfa::from_sp;
  } else {
    return false;
  }
  rule.cfa_offset = static_cast<std::int32_t>(offset);
  return fits(offset);
}

bool find_return(const Saved& saved, bool has_link, FrameRule& rule) {
  rule.return_slot = static_cast<std::int32_t>(saved.offset);
  switch (saved.kind) {
    case Saved::Kind::at_offset:
      rule.ret = FrameRule::Return::stored;
      return fits(saved.offset);
    case Saved::Kind::undefined:
      rule.ret = FrameRule::Return::outermost;
      rule.return_slot = 0;
      return true;
    case Saved::Kind::same:
      rule.ret = FrameRule::Return::in_link;
      rule.return_slot = 0;
      return has_link;
    default:
      return false;
  }
}

void find_fp(const Saved& saved, FrameRule& rule) {
  const bool stored = saved.kind == Saved::Kind::at_offset || saved.kind == Saved::Kind::at_fp;
  if (stored && fits(saved.offset)) {
    rule.fp =
        saved.kind == Saved::Kind::at_fp ? FrameRule::Fp::stored_at_fp : FrameRule::Fp::stored;
    rule.fp_slot = static_cast<std::int32_t>(saved.offset);
  } else {
    rule.fp = saved.kind == Saved::Kind::same ? FrameRule::Fp::same : FrameRule::Fp::lost;
  }
}

}  // namespace

FrameRule rule_at(const FrameDescription& description, const FrameRegisters& registers,
                  std::uint64_t address) {
  FrameRule rule;
  if (description.signal_frame) {
    rule.signal_frame = true;
    return rule;
  }
  Program program(description, registers, address);
  if (!program.run()) {
    return rule;
  }
  const Row& row = program.row();
  if (!find_cfa(row, description, registers, address, rule) ||
      !find_return(row.ret, registers.link == description.return_address, rule)) {
    return {};
  }
  find_fp(row.fp, rule);
  return rule;
}

}  // namespace whocall::rules
