#include "unwind/abstract_state.h"

#include <algorithm>

#include "unwind/expression_writer.h"

namespace whocall {

using Kind = AbstractValue::Kind;

AbstractState::AbstractState(const Architecture& arch) : arch_(&arch) {
  for (Register number = 0; number < kRegisterLimit; ++number) {
    registers_[number] = AbstractValue::on_entry(number);
  }
  const std::int64_t pushed = arch.return_address_size_on_stack;
  registers_[arch.sp] = AbstractValue::from_cfa(-pushed);
  if (pushed != 0) {
    registers_[arch.return_address] = {};  // a column, no register: only the stack holds it
    slots_.push_back(
        {AbstractValue::from_cfa(-pushed), AbstractValue::on_entry(arch.return_address)});
  }
}

AbstractValue AbstractState::get(Register number) const {
  return number < kRegisterLimit ? registers_[number] : AbstractValue{};
}

void AbstractState::set(Register number, const AbstractValue& value) {
  if (number == arch_->sp && value.kind == Kind::unknown) {
    return move_sp_to_unknown();
  }
  if (number < kRegisterLimit) {
    registers_[number] = value;
  }
  if (number == arch_->sp) {
    drop_slots_below_sp();
  }
  if (compared_ && (compared_->first == number || compared_->second == number)) {
    compared_.reset();
  }
}

// Folklore. Situation: hand-written code aligns its stack by more than one step, and keeps the old
// stack pointer in a word of the new frame. Example: AES_encrypt of OpenSSL: mov %rsp,%rax;
// and $-64,%rsp; sub %rcx,%rsp; mov %rax,24(%rsp). Remedy: the place where the stack pointer is now
// is a base as good as any: words are known by their distance from it. There is one such base at a
// time; while another register (the frame pointer) leans on the old one, that one stays.
void AbstractState::move_sp_to_unknown() {
  registers_[arch_->sp] = {};
  if (aligned_base()) {
    return;
  }
  std::erase_if(slots_, [](const Slot& slot) { return slot.where.kind == Kind::aligned; });
  for (Slot& slot : slots_) {
    slot.what = slot.what.kind == Kind::aligned ? AbstractValue{} : slot.what;
  }
  std::erase_if(slots_, [](const Slot& slot) { return slot.what.kind == Kind::unknown; });
  for (AbstractValue& value : registers_) {
    value = value.kind == Kind::aligned ? AbstractValue{} : value;
  }
  registers_[arch_->sp] = AbstractValue::from_aligned(0);
  compared_.reset();
}

AbstractValue AbstractState::plus(Register base, std::int64_t offset) const {
  AbstractValue value = get(base);
  if (offset == 0) {
    return value;
  }
  if (!value.is_address()) {
    return {};
  }
  return AbstractValue::address(value.kind, value.offset + offset);
}

void AbstractState::apply(const Effect& effect) {
  switch (effect.kind) {
    case Effect::Kind::set:
      return set(effect.destination, plus(effect.source, effect.offset));
    case Effect::Kind::load:
      return set(effect.destination, load(plus(effect.source, effect.offset)));
    case Effect::Kind::store:
      return store(plus(effect.destination, effect.offset), get(effect.source));
    case Effect::Kind::store_other:
      return store(plus(effect.destination, effect.offset), {});
    case Effect::Kind::clobber:
      return set(effect.destination, {});
    case Effect::Kind::compare:
      compared_ = {effect.destination, effect.source};
      return;
  }
}

void AbstractState::after_call() { after_call(std::bitset<kRegisterLimit>().set()); }

void AbstractState::after_call(const std::bitset<kRegisterLimit>& written) {
  for (Register number = 0; number < kRegisterLimit; ++number) {
    const bool preserved =
        std::ranges::find(arch_->callee_saved, number) != arch_->callee_saved.end();
    if (written.test(number) && !preserved && number != arch_->sp) {
      registers_[number] = {};
    }
  }
  compared_.reset();
}

// Folklore. Situation: -fstack-clash-protection probes a big frame page by page in a loop that
// lowers the stack pointer. Example: lea -0x5000(%rsp),%r11; 1: sub $0x1000,%rsp; orq $0,(%rsp);
// cmp %r11,%rsp; jne 1b. Inside the loop nothing is known of rsp. Remedy: behind the jne the two
// are equal, and r11 is known.
bool AbstractState::compared_equal() {
  if (!compared_) {
    return true;
  }
  const auto [left, right] = *compared_;
  const AbstractValue a = get(left);
  const AbstractValue b = get(right);
  if (a.kind != Kind::cfa && b.kind == Kind::cfa) {
    set(left, b);
  } else if (a.kind == Kind::cfa && b.kind != Kind::cfa) {
    set(right, a);
  }
  return !(a.is_address() && a.kind == b.kind && a != b);
}

bool AbstractState::merge(const AbstractState& other) {
  const auto registers_before = registers_;
  const auto slots_before = slots_;
  const auto both_compared = compared_ == other.compared_ ? compared_ : std::nullopt;
  if (get(arch_->sp) != other.get(arch_->sp)) {
    move_sp_to_unknown();
  }
  for (Register number = 0; number < kRegisterLimit; ++number) {
    if (number != arch_->sp && registers_[number] != other.registers_[number]) {
      registers_[number] = {};
    }
  }
  std::erase_if(slots_, [&](const Slot& slot) {
    return std::ranges::find(other.slots_, slot) == other.slots_.end();
  });
  compared_ = both_compared;
  moved_away_ = moved_away_ || other.moved_away_;
  return registers_ != registers_before || slots_ != slots_before;
}

bool AbstractState::knows_frame() const {
  return get(arch_->sp).kind == Kind::cfa || get(arch_->fp).kind == Kind::cfa;
}

bool AbstractState::leans_on_scratch() const {
  bool known = false;
  for (Register number = 0; number < kRegisterLimit; ++number) {
    if (registers_[number].kind != Kind::cfa) {
      continue;
    }
    if (number == arch_->sp ||
        std::ranges::find(arch_->callee_saved, number) != arch_->callee_saved.end()) {
      return false;
    }
    known = true;
  }
  return known;
}

bool AbstractState::disagrees(const AbstractState& other) const {
  const AbstractValue mine = get(arch_->sp);
  const AbstractValue theirs = other.get(arch_->sp);
  return mine.is_address() && mine.kind == theirs.kind && mine != theirs;
}

void AbstractState::store(const AbstractValue& where, const AbstractValue& what) {
  if (!where.is_address()) {
    // Through a pointer of unknown origin: compilers keep those away from saved registers.
    moved_away_ = moved_away_ || what == AbstractValue::on_entry(arch_->return_address);
    return;
  }
  // The return address where the call put it is not overwritten by correct code.
  std::erase_if(slots_, [&](const Slot& slot) { return slot.where == where; });
  if (what.kind != Kind::unknown) {
    slots_.push_back({where, what});
  }
}

AbstractValue AbstractState::load(const AbstractValue& where) const {
  const auto found = std::ranges::find(slots_, where, &Slot::where);
  return where.is_address() && found != slots_.end() ? found->what : AbstractValue{};
}

// What was popped is dead: a signal handler may overwrite it at any moment.
void AbstractState::drop_slots_below_sp() {
  const AbstractValue sp = get(arch_->sp);
  if (sp.is_address()) {
    std::erase_if(slots_, [&](const Slot& slot) {
      return slot.where.kind == sp.kind && slot.where.offset < sp.offset;
    });
  }
}

std::optional<UnwindRow> AbstractState::row(std::deque<std::vector<std::byte>>& arena,
                                            bool at_call) const {
  const auto cfa = cfa_rule(arena);
  if (!cfa) {
    return std::nullopt;
  }
  UnwindRow row;
  row.cfa = *cfa;
  row.return_address = arch_->return_address;
  const auto add = [&](Register number) {
    if (const auto rule = saved_rule(number, arena)) {
      row.rules.push_back({number, *rule});
      return true;
    }
    return false;
  };
  if (!add(arch_->return_address)) {
    const auto scratch = at_call ? std::nullopt : return_address_in_scratch();
    if (!scratch && !gave_up_return_address()) {
      return std::nullopt;
    }
    row.rules.push_back({arch_->return_address, scratch.value_or(RegisterRule::undefined())});
  }
  for (const Register number : arch_->callee_saved) {
    if (!add(number)) {
      row.rules.push_back({number, RegisterRule::undefined()});
    }
  }
  return row;
}

// Folklore. Situation: musl's __clone, the first function of every thread, takes its argument off
// the stack where a return address would be and never returns. Remedy: code that has taken the
// return address off the stack and put it nowhere has no caller. Not so what moves it to a place
// that cannot be followed (SBCL: pop [rbp+8]).
bool AbstractState::gave_up_return_address() const {
  const AbstractValue sp = get(arch_->sp);
  return arch_->return_address_size_on_stack != 0 && sp.kind == Kind::cfa && sp.offset >= 0 &&
         !moved_away_;
}

// sp, else fp, else any register that holds an address of known distance from the CFA; behind a
// realignment, a word near the aligned base that holds one (the i386 `main` keeps %ecx there).
std::optional<CfaRule> AbstractState::cfa_rule(std::deque<std::vector<std::byte>>& arena) const {
  const auto by = [&](Register number) -> std::optional<CfaRule> {
    const AbstractValue value = get(number);
    return value.kind == Kind::cfa ? std::optional(CfaRule::at(number, -value.offset))
                                   : std::nullopt;
  };
  for (const Register preferred : {arch_->sp, arch_->fp}) {
    if (const auto rule = by(preferred)) {
      return rule;
    }
  }
  for (Register number = 0; number < kRegisterLimit; ++number) {
    if (const auto rule = by(number)) {
      return rule;
    }
  }
  const auto base = aligned_base();
  for (const Slot& slot : slots_) {
    if (base && slot.where.kind == Kind::aligned && slot.what.kind == Kind::cfa) {
      ExpressionWriter writer(arena, arch_->endian);
      writer.base(base->first, slot.where.offset - base->second).deref().plus(-slot.what.offset);
      return CfaRule{CfaRule::Kind::expression, 0, 0, writer.view()};
    }
  }
  return std::nullopt;
}

std::optional<RegisterRule> AbstractState::saved_rule(
    Register number, std::deque<std::vector<std::byte>>& arena) const {
  const AbstractValue wanted = AbstractValue::on_entry(number);
  const auto base = aligned_base();
  // The copy in memory first: a called thunk (get_pc_thunk.bx) may change the register behind the
  // analysis' back, but nobody touches the copy.
  for (const Slot& slot : slots_) {
    if (slot.what != wanted) {
      continue;
    }
    if (slot.where.kind == Kind::cfa) {
      return RegisterRule::stored_at_cfa(slot.where.offset);
    }
    if (base) {
      ExpressionWriter writer(arena, arch_->endian);
      writer.base(base->first, slot.where.offset - base->second);
      return RegisterRule::stored_at(writer.view());
    }
  }
  if (get(number) == wanted) {
    return RegisterRule::same();
  }
  for (const Register other : arch_->callee_saved) {
    if (get(other) == wanted) {
      return RegisterRule::from(other);
    }
  }
  return std::nullopt;
}

// Folklore. Situation: code takes its return address off the stack into a scratch register and
// goes back by a jump. Example: pop %rcx; ...; jmp *%rcx in stubs of the C library. Remedy: until a
// call may change it, the register holds the return address.
std::optional<RegisterRule> AbstractState::return_address_in_scratch() const {
  const AbstractValue wanted = AbstractValue::on_entry(arch_->return_address);
  const auto found = std::ranges::find(registers_, wanted);
  return found == registers_.end()
             ? std::nullopt
             : std::optional(RegisterRule::from(static_cast<Register>(found - registers_.begin())));
}

// A register that holds an address of known distance from the aligned base.
std::optional<std::pair<Register, std::int64_t>> AbstractState::aligned_base() const {
  for (const Register preferred : {arch_->fp, arch_->sp}) {
    if (get(preferred).kind == Kind::aligned) {
      return std::pair(preferred, get(preferred).offset);
    }
  }
  return std::nullopt;
}

}  // namespace whocall
