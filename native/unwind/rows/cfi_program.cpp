#include "unwind/rows/cfi_program.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "object/frame_entries.h"
#include "unwind/rows/dwarf.h"

namespace whocall {
namespace {

constexpr std::size_t kRememberLimit = 64;  // compilers nest one or two deep

// The state that call frame instructions change.
struct State {
  CfaRule cfa;
  std::vector<NamedRule> rules;

  void set(Register number, const RegisterRule& rule) {
    const auto found = std::ranges::find(rules, number, &NamedRule::number);
    if (found == rules.end()) {
      rules.push_back({number, rule});
    } else {
      found->rule = rule;
    }
  }
  void erase(Register number) {
    std::erase_if(rules, [&](const NamedRule& named) { return named.number == number; });
  }
};

// Of the rows of one function, together, each row counted as one more. Those of compilers have some
// thousand; a program of two bytes a row, in a file of 60 MB, has gigabytes.
constexpr std::size_t kMostRules = std::size_t{1} << 20U;

class Compiler {
 public:
  explicit Compiler(const Fde& fde) : fde_(fde), cie_(*fde.cie), location_(fde.range.begin) {}

  std::vector<UnwindRow> run() {
    bool whole = execute(cie_.instructions);
    initial_ = state_;
    rows_.clear();
    location_ = fde_.range.begin;
    whole = whole && execute(fde_.instructions);
    // What a damaged program said last is not trusted to hold to the function's end.
    if (whole) {
      emit_until(fde_.range.end);
    }
    return std::move(rows_);
  }

 private:
  // False when the program is damaged.
  bool execute(ByteView instructions) {
    ByteReader code(instructions);
    while (!code.at_end()) {
      if (!step(code.u8(), code) || !code.ok() || cost_ > kMostRules) {
        return false;
      }
    }
    return code.ok();
  }

  bool step(std::uint8_t op, ByteReader& code) {
    const std::uint8_t operand = op & 0x3fU;
    switch (op & 0xc0U) {
      case dw::CFA_advance_loc:
        advance(operand);
        return true;
      case dw::CFA_offset:
        state_.set(operand, RegisterRule::stored_at_cfa(factored(code.uleb())));
        return true;
      case dw::CFA_restore:
        restore(operand);
        return true;
      default:
        return move(op, code) || define_cfa(op, code) || define_register(op, code) ||
               keep_or_ignore(op, code);
    }
  }

  bool move(std::uint8_t op, ByteReader& code) {
    switch (op) {
      case dw::CFA_set_loc: {
        const auto location = read_location(code, fde_);
        emit_until(location.value_or(location_));
        return location.has_value();
      }
      case dw::CFA_advance_loc1:
        advance(code.u8());
        return true;
      case dw::CFA_advance_loc2:
        advance(code.u16());
        return true;
      case dw::CFA_advance_loc4:
        advance(code.u32());
        return true;
      case dw::CFA_MIPS_advance_loc8:
        advance(code.u64());
        return true;
      default:
        return false;
    }
  }

  bool define_cfa(std::uint8_t op, ByteReader& code) {
    CfaRule& cfa = state_.cfa;
    switch (op) {
      case dw::CFA_def_cfa:
      case dw::CFA_def_cfa_sf: {
        const Register base = number(code);
        cfa = CfaRule::at(base, op == dw::CFA_def_cfa ? plain(code.uleb()) : factored(code.sleb()));
        return true;
      }
      case dw::CFA_def_cfa_register:
        cfa = CfaRule::at(number(code), cfa.offset);
        return true;
      case dw::CFA_def_cfa_offset:
        cfa = CfaRule::at(cfa.base, plain(code.uleb()));
        return true;
      case dw::CFA_def_cfa_offset_sf:
        cfa = CfaRule::at(cfa.base, factored(code.sleb()));
        return true;
      case dw::CFA_def_cfa_expression:
        cfa = {CfaRule::Kind::expression, 0, 0, code.block(code.uleb())};
        return true;
      default:
        return false;
    }
  }

  bool define_register(std::uint8_t op, ByteReader& code) {
    switch (op) {
      case dw::CFA_offset_extended:
      case dw::CFA_offset_extended_sf:
      case dw::CFA_GNU_negative_offset_extended:
      case dw::CFA_val_offset:
      case dw::CFA_val_offset_sf:
        define_by_offset(op, code);
        return true;
      case dw::CFA_expression: {
        const Register target = number(code);
        state_.set(target, RegisterRule::stored_at(code.block(code.uleb())));
        return true;
      }
      case dw::CFA_val_expression: {
        const Register target = number(code);
        state_.set(target, RegisterRule::computed(code.block(code.uleb())));
        return true;
      }
      case dw::CFA_restore_extended:
        restore(number(code));
        return true;
      case dw::CFA_undefined:
        state_.set(number(code), RegisterRule::undefined());
        return true;
      case dw::CFA_same_value:
        state_.set(number(code), RegisterRule::same());
        return true;
      case dw::CFA_register: {
        const Register target = number(code);
        state_.set(target, RegisterRule::from(number(code)));
        return true;
      }
      default:
        return false;
    }
  }

  void define_by_offset(std::uint8_t op, ByteReader& code) {
    const Register target = number(code);
    const bool is_signed = op == dw::CFA_offset_extended_sf || op == dw::CFA_val_offset_sf;
    std::int64_t offset = is_signed ? factored(code.sleb()) : factored(code.uleb());
    if (op == dw::CFA_GNU_negative_offset_extended) {
      offset = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(offset));
    }
    const bool value = op == dw::CFA_val_offset || op == dw::CFA_val_offset_sf;
    state_.set(target,
               value ? RegisterRule::cfa_plus(offset) : RegisterRule::stored_at_cfa(offset));
  }

  bool keep_or_ignore(std::uint8_t op, ByteReader& code) {
    switch (op) {
      case dw::CFA_nop:
      case dw::CFA_GNU_window_save:  // AArch64: the return address is signed; masked when it is
                                     // read
        return true;
      case dw::CFA_GNU_args_size:
        code.uleb();
        return true;
      case dw::CFA_remember_state:
        if (remembered_.size() >= kRememberLimit) {
          return false;
        }
        remembered_.push_back(state_);
        return true;
      case dw::CFA_restore_state:
        if (remembered_.empty()) {
          return false;
        }
        state_ = std::move(remembered_.back());
        remembered_.pop_back();
        return true;
      default:
        return false;
    }
  }

  void restore(Register number) {
    const auto found = std::ranges::find(initial_.rules, number, &NamedRule::number);
    if (found == initial_.rules.end()) {
      state_.erase(number);
    } else {
      state_.set(number, found->rule);
    }
  }

  void advance(std::uint64_t delta) { emit_until(location_ + delta * cie_.code_alignment); }

  // Closes the row that is in force, unless it covers nothing.
  void emit_until(Address next) {
    const Address end = std::min(next, fde_.range.end);
    if (end > location_) {
      cost_ += 1 + state_.rules.size();
      if (cost_ > kMostRules) {
        return;
      }
      rows_.push_back(
          {{location_, end}, state_.cfa, cie_.return_address, cie_.signal_frame, state_.rules});
    }
    location_ = std::max(location_, next);
  }

  // Registers that the walk cannot follow (vector registers) share one number beyond the limit.
  static Register number(ByteReader& code) {
    const auto value = code.uleb();
    return value < kRegisterLimit ? static_cast<Register>(value) : kRegisterLimit;
  }
  static std::int64_t plain(std::uint64_t value) { return static_cast<std::int64_t>(value); }
  [[nodiscard]] std::int64_t factored(std::uint64_t value) const {
    return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(cie_.data_alignment));
  }
  [[nodiscard]] std::int64_t factored(std::int64_t value) const {
    return factored(static_cast<std::uint64_t>(value));
  }

  const Fde& fde_;
  const Cie& cie_;
  Address location_;
  State state_;
  State initial_;
  std::vector<State> remembered_;
  std::vector<UnwindRow> rows_;
  std::size_t cost_ = 0;
};

}  // namespace

std::vector<UnwindRow> compile(const Fde& fde) { return Compiler(fde).run(); }

}  // namespace whocall
