#include "rules/cfi_rule.h"

#include <array>
#include <limits>

#include "rules/cfi_interpreter.h"
#include "rules/dwarf.h"

namespace whocall::rules {
namespace {

constexpr std::int32_t kTooFar = std::numeric_limits<std::int32_t>::min();

std::int32_t fitted(std::int64_t offset) {
  return offset == static_cast<std::int32_t>(offset) ? static_cast<std::int32_t>(offset) : kTooFar;
}

enum class Base : std::uint8_t { none, sp, fp, other };
enum class Place : std::uint8_t { same, at_offset, at_fp, undefined, unknown };

struct Saved {
  std::int32_t offset = 0;  // bytes from the CFA, or from the frame pointer; or kTooFar
  Place place = Place::same;
};

// Small, as many of them may have to be remembered on a small stack; all 0 says nothing.
struct Row {
  const std::byte* expression;  // of the CFA; null: base and offset
  std::int32_t offset;          // of the CFA; or kTooFar
  std::int32_t fp_offset;       // as in Saved
  std::int32_t ret_offset;
  std::uint8_t expression_size;  // bytes
  Base base;
  Place fp;
  Place ret;
};

constexpr std::uint64_t kLongestExpression = 255;  // bytes: the simple ones have a dozen

// What call frame instructions say of the CFA, the return address and the frame pointer at one
// address.
class OneRow {
 public:
  OneRow(const FrameRegisters& registers, std::uint64_t return_address, std::uint64_t wanted)
      : registers_(registers), return_address_(return_address), wanted_(wanted) {}

  [[nodiscard]] const Row& row() const { return row_; }

  void define_cfa(std::uint64_t number, std::int64_t offset) {
    set_cfa_register(number);
    set_cfa_offset(offset);
  }
  void set_cfa_register(std::uint64_t number) {
    const Base fp_or_other = number == registers_.fp ? Base::fp : Base::other;
    row_.base = number == registers_.sp ? Base::sp : fp_or_other;
    row_.expression = nullptr;
  }
  void set_cfa_offset(std::int64_t offset) { row_.offset = fitted(offset); }
  void set_cfa_expression(const ByteSpan& expression) {
    const bool fits = expression.size <= kLongestExpression;
    row_.expression = fits ? expression.bytes : nullptr;
    row_.expression_size = static_cast<std::uint8_t>(fits ? expression.size : 0);
    row_.base = Base::none;
  }

  void stored_at_cfa(std::uint64_t number, std::int64_t offset) {
    set(number, {fitted(offset), Place::at_offset});
  }
  void cfa_plus(std::uint64_t number, std::int64_t /*offset*/) { lose(number); }
  void in_register(std::uint64_t number, std::uint64_t /*other*/) { lose(number); }
  // GCC saves the frame pointer of a realigned frame where the new one points: DW_OP_breg 0.
  void stored_at(std::uint64_t number, const ByteSpan& expression) {
    ByteCursor cursor(expression);
    const bool from_fp = cursor.take<std::uint8_t>() == dw::OP_breg0 + registers_.fp;
    const std::int64_t offset = cursor.sleb();
    const bool simple = from_fp && cursor.ok() && cursor.at_end();
    set(number, {fitted(offset), simple ? Place::at_fp : Place::unknown});
  }
  void computed(std::uint64_t number, const ByteSpan& /*expression*/) { lose(number); }
  void undefined(std::uint64_t number) { set(number, {0, Place::undefined}); }
  void same(std::uint64_t number) { set(number, {0, Place::same}); }
  void restore(std::uint64_t number) {
    if (number == registers_.fp) {
      row_.fp = initial_fp_.place;
      row_.fp_offset = initial_fp_.offset;
    } else if (number == return_address_) {
      row_.ret = initial_ret_.place;
      row_.ret_offset = initial_ret_.offset;
    }
  }

  bool remember() {
    if (depth_ == kMostRemembered) {
      return false;
    }
    remembered_.data()[depth_++] = row_;
    return true;
  }
  bool recall() {
    if (depth_ == 0) {
      return false;
    }
    row_ = remembered_.data()[--depth_];
    return true;
  }
  void keep_initial() {
    initial_fp_ = {row_.fp_offset, row_.fp};
    initial_ret_ = {row_.ret_offset, row_.ret};
  }
  [[nodiscard]] bool advance(std::uint64_t address) const { return address <= wanted_; }

 private:
  void set(std::uint64_t number, Saved saved) {
    if (number == registers_.fp) {
      row_.fp = saved.place;
      row_.fp_offset = saved.offset;
    } else if (number == return_address_) {
      row_.ret = saved.place;
      row_.ret_offset = saved.offset;
    }
  }
  void lose(std::uint64_t number) { set(number, {0, Place::unknown}); }

  const FrameRegisters& registers_;
  std::uint64_t return_address_;
  std::uint64_t wanted_;
  Row row_{};
  Saved initial_fp_;
  Saved initial_ret_;
  std::size_t depth_ = 0;
  std::array<Row, kMostRemembered> remembered_;  // of which `depth_` are set
};

// A realigned frame keeps its CFA in a word below the frame pointer: DW_OP_breg N; DW_OP_deref.
bool is_stored_below(const ByteSpan& expression, std::uint64_t fp, std::int64_t& offset) {
  ByteCursor cursor(expression);
  const bool from_fp = cursor.take<std::uint8_t>() == dw::OP_breg0 + fp;
  offset = cursor.sleb();
  return from_fp && cursor.take<std::uint8_t>() == dw::OP_deref && cursor.ok() && cursor.at_end();
}

// Stubs of imported functions push a word in their second half, which x86 linkers say with one
// expression for all of them: sp + word + ((pc & 15) >= LIMIT ? word : 0).
//   DW_OP_breg sp; DW_OP_breg pc 0; DW_OP_lit15; DW_OP_and; DW_OP_lit LIMIT; DW_OP_ge;
//   DW_OP_lit2 or 3; DW_OP_shl; DW_OP_plus
bool is_in_stubs(const ByteSpan& expression, const FrameRegisters& registers,
                 std::uint64_t return_address, std::uint64_t address, std::int64_t& offset) {
  ByteCursor cursor(expression);
  const bool from_sp = cursor.take<std::uint8_t>() == dw::OP_breg0 + registers.sp;
  offset = cursor.sleb();
  const bool by_pc = cursor.take<std::uint8_t>() == dw::OP_breg0 + return_address &&
                     cursor.sleb() == 0 && cursor.take<std::uint8_t>() == dw::OP_lit0 + 15 &&
                     cursor.take<std::uint8_t>() == dw::OP_and;
  const unsigned limit = cursor.take<std::uint8_t>() - unsigned{dw::OP_lit0};
  const bool compared = limit < 16 && cursor.take<std::uint8_t>() == dw::OP_ge;
  const unsigned shift = cursor.take<std::uint8_t>() - unsigned{dw::OP_lit0};
  const bool added = shift < 4 && cursor.take<std::uint8_t>() == dw::OP_shl &&
                     cursor.take<std::uint8_t>() == dw::OP_plus && cursor.at_end();
  if (compared && added && (address & 15U) >= limit) {
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + (1U << shift));
  }
  return from_sp && by_pc && compared && added && cursor.ok();
}

bool find_cfa(const Row& row, const FrameRegisters& registers, std::uint64_t return_address,
              std::uint64_t address, FrameRule& rule) {
  rule.cfa_offset = row.offset;
  if (row.expression == nullptr) {
    rule.cfa = row.base == Base::sp ? FrameRule::Cfa::from_sp : FrameRule::Cfa::from_fp;
    return (row.base == Base::sp || row.base == Base::fp) && row.offset != kTooFar;
  }
  const ByteSpan expression{row.expression, 0, row.expression_size};
  std::int64_t offset = 0;
  if (is_stored_below(expression, registers.fp, offset)) {
    rule.cfa = FrameRule::Cfa::stored_at_fp;
  } else if (is_in_stubs(expression, registers, return_address, address, offset)) {
    rule.cfa = FrameRule::Cfa::from_sp;
  } else {
    return false;
  }
  rule.cfa_offset = fitted(offset);
  return rule.cfa_offset != kTooFar;
}

bool find_return(const Row& row, bool has_link, FrameRule& rule) {
  switch (row.ret) {
    case Place::at_offset:
      rule.ret = FrameRule::Return::stored;
      rule.return_slot = row.ret_offset;
      return row.ret_offset != kTooFar;
    case Place::undefined:
      rule.ret = FrameRule::Return::outermost;
      return true;
    case Place::same:
      rule.ret = FrameRule::Return::in_link;
      return has_link;
    default:
      return false;
  }
}

void find_fp(const Row& row, FrameRule& rule) {
  const bool stored = row.fp == Place::at_offset || row.fp == Place::at_fp;
  if (stored && row.fp_offset != kTooFar) {
    rule.fp = row.fp == Place::at_fp ? FrameRule::Fp::stored_at_fp : FrameRule::Fp::stored;
    rule.fp_slot = row.fp_offset;
  } else {
    rule.fp = row.fp == Place::same ? FrameRule::Fp::same : FrameRule::Fp::lost;
  }
}

}  // namespace

FrameRule rule_at(const WholeDescription& description, const FrameRegisters& registers,
                  std::uint64_t address) {
  FrameRule rule;
  const Cie& cie = description.cie;
  if (cie.signal_frame) {
    rule.signal_frame = true;
    return rule;
  }
  OneRow sink(registers, cie.return_address, address);
  CallFrameProgram program(cie, description.fde.begin, sink);
  if (program.run(description.fde.instructions) == ProgramEnd::damaged) {
    return rule;
  }
  const Row& row = sink.row();
  if (!find_cfa(row, registers, cie.return_address, address, rule) ||
      !find_return(row, registers.link == cie.return_address, rule)) {
    return {};
  }
  find_fp(row, rule);
  return rule;
}

}  // namespace whocall::rules
