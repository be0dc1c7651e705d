#include "unwind/rows/fde_rows.h"

#include <algorithm>

#include "object/byte_span.h"
#include "rules/cfi_interpreter.h"

namespace whocall {
namespace {

// The state that call frame instructions change.
struct State {
  CfaRule cfa;  // with the offset stated last, whatever is in force
  std::vector<NamedRule> rules;

  void set(Register number, const RegisterRule& rule) {
    const auto found = std::ranges::find(rules, number, &NamedRule::number);
    if (found == rules.end()) {
      rules.push_back({number, rule});
    } else {
      found->rule = rule;
    }
  }
  [[nodiscard]] CfaRule cfa_in_force() const {
    return cfa.kind == CfaRule::Kind::register_offset ? cfa
                                                      : CfaRule{cfa.kind, 0, 0, cfa.expression};
  }
  void erase(Register number) {
    std::erase_if(rules, [&](const NamedRule& named) { return named.number == number; });
  }
};

// Of the rows of one function, together, each row counted as one more. Those of compilers have some
// thousand; a program of two bytes a row, in a file of 60 MB, has gigabytes.
constexpr std::size_t kMostRules = std::size_t{1} << 20U;

// Takes down the rows of a function.
class RowSink {
 public:
  explicit RowSink(const Fde& fde)
      : fde_(fde),
        return_address_(static_cast<Register>(fde.cie->return_address)),
        begin_(fde.range.begin) {}

  void define_cfa(std::uint64_t number, std::int64_t offset) {
    state_.cfa = CfaRule::at(named(number), offset);
  }
  void set_cfa_register(std::uint64_t number) {
    state_.cfa = CfaRule::at(named(number), state_.cfa.offset);
  }
  void set_cfa_offset(std::int64_t offset) { state_.cfa.offset = offset; }
  void set_cfa_expression(const rules::ByteSpan& expression) {
    state_.cfa.kind = CfaRule::Kind::expression;
    state_.cfa.expression = view_of(expression);
  }

  void stored_at_cfa(std::uint64_t number, std::int64_t offset) {
    state_.set(named(number), RegisterRule::stored_at_cfa(offset));
  }
  void cfa_plus(std::uint64_t number, std::int64_t offset) {
    state_.set(named(number), RegisterRule::cfa_plus(offset));
  }
  void in_register(std::uint64_t number, std::uint64_t other) {
    state_.set(named(number), RegisterRule::from(named(other)));
  }
  void stored_at(std::uint64_t number, const rules::ByteSpan& expression) {
    state_.set(named(number), RegisterRule::stored_at(view_of(expression)));
  }
  void computed(std::uint64_t number, const rules::ByteSpan& expression) {
    state_.set(named(number), RegisterRule::computed(view_of(expression)));
  }
  void undefined(std::uint64_t number) { state_.set(named(number), RegisterRule::undefined()); }
  void same(std::uint64_t number) { state_.set(named(number), RegisterRule::same()); }
  void restore(std::uint64_t number) {
    const Register target = named(number);
    const auto found = std::ranges::find(initial_.rules, target, &NamedRule::number);
    if (found == initial_.rules.end()) {
      state_.erase(target);
    } else {
      state_.set(target, found->rule);
    }
  }

  bool remember() {
    if (remembered_.size() == rules::kMostRemembered) {
      return false;
    }
    remembered_.push_back(state_);
    return true;
  }
  bool recall() {
    if (remembered_.empty()) {
      return false;
    }
    state_ = std::move(remembered_.back());
    remembered_.pop_back();
    return true;
  }
  void keep_initial() { initial_ = state_; }

  // Closes the row that is in force, unless it covers nothing.
  bool advance(Address next) {
    const Address end = std::min(next, fde_.range.end);
    if (end > begin_) {
      cost_ += 1 + state_.rules.size();
      if (cost_ > kMostRules) {
        return false;
      }
      rows_.push_back({{begin_, end},
                       state_.cfa_in_force(),
                       return_address_,
                       fde_.cie->signal_frame,
                       state_.rules});
    }
    begin_ = next;
    return true;
  }

  std::vector<UnwindRow> rows() { return std::move(rows_); }

 private:
  // Registers that the walk cannot follow (vector registers) share one number beyond the limit.
  static Register named(std::uint64_t number) {
    return number < kRegisterLimit ? static_cast<Register>(number) : kRegisterLimit;
  }

  const Fde& fde_;
  Register return_address_;
  Address begin_;  // of the row in force
  State state_;
  State initial_;
  std::vector<State> remembered_;
  std::vector<UnwindRow> rows_;
  std::size_t cost_ = 0;
};

}  // namespace

std::vector<UnwindRow> compile(const Fde& fde) {
  RowSink sink(fde);
  rules::CallFrameProgram program(*fde.cie, fde.range.begin, sink);
  // What a damaged program said last is not trusted to hold to the function's end.
  if (program.run(fde.instructions) == rules::ProgramEnd::whole) {
    sink.advance(fde.range.end);
  }
  return sink.rows();
}

}  // namespace whocall
