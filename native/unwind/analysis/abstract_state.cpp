#include "unwind/analysis/abstract_state.h"

#include <algorithm>

namespace whocall {

using Kind = AbstractValue::Kind;

AbstractState::AbstractState(const Architecture& arch)
    : arch_(&arch), registers_(arch.registers.followed) {
  registers_.change_each(
      [](Register number, AbstractValue& value) { value = AbstractValue::on_entry(number); });
  const std::int64_t pushed = arch.frame.pushed_by_call;
  registers_.set(arch.registers.sp, AbstractValue::from_cfa(-arch.frame.cfa_on_entry));
  if (pushed != 0) {
    // A column, no register: only the stack holds it.
    registers_.set(arch.registers.return_address, {});
    slots_.add(
        {AbstractValue::from_cfa(-pushed), AbstractValue::on_entry(arch.registers.return_address)});
  }
}

void AbstractState::set(Register number, const AbstractValue& value) {
  if (number == arch_->registers.sp && value.kind == Kind::unknown) {
    return move_sp_to_unknown();
  }
  registers_.set(number, value);
  slots_.erase_if([&](const Slot& slot) {
    return slot.where.kind == Kind::indexed && slot.where.source == number;
  });
  if (number == arch_->registers.sp) {
    drop_slots_below_sp(false);
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
  registers_.set(arch_->registers.sp, {});
  if (aligned_base()) {
    return;
  }
  slots_.erase_if([](const Slot& slot) {
    return slot.where.kind == Kind::aligned || slot.where.kind == Kind::indexed;
  });
  for (Slot& slot : slots_.change()) {
    slot.what = slot.what.kind == Kind::aligned ? AbstractValue{} : slot.what;
  }
  slots_.erase_if([](const Slot& slot) { return slot.what.kind == Kind::unknown; });
  registers_.change_each([](Register /*number*/, AbstractValue& value) {
    value = value.kind == Kind::aligned ? AbstractValue{} : value;
  });
  registers_.set(arch_->registers.sp, AbstractValue::from_aligned(0));
  compared_.reset();
}

// Makes the place where the stack pointer is the base that aligned addresses count from, when it is
// told by that base already.
void AbstractState::count_from_sp() {
  const AbstractValue sp = get(arch_->registers.sp);
  const auto shift = [&](AbstractValue& value) {
    if (value.kind == Kind::aligned || value.kind == Kind::indexed) {
      value.offset -= sp.offset;
    }
  };
  if (sp.kind != Kind::aligned || sp.offset == 0) {
    return;
  }
  registers_.change_each([&](Register /*number*/, AbstractValue& value) { shift(value); });
  for (Slot& slot : slots_.change()) {
    shift(slot.where);
    shift(slot.what);
  }
}

AbstractValue AbstractState::plus(Register base, std::int64_t offset) const {
  AbstractValue value = get(base);
  if (offset == 0) {
    return value;
  }
  if (!value.is_address() && value.kind != Kind::constant) {
    return {};
  }
  return AbstractValue::address(value.kind, value.offset + offset);
}

// Folklore. Situation: frames too large for an immediate operand. Example: gcc's for AArch64:
// mov x12,#0x10010; sub sp,sp,x12. Remedy: constants are followed as far as a sum with one goes.
AbstractValue AbstractState::sum(const Effect& effect, int sign) const {
  const AbstractValue amount = get(effect.index);
  return amount.kind == Kind::constant
             ? plus(effect.source, std::int64_t{sign} * amount.offset + effect.offset)
             : AbstractValue{};
}

// Folklore. Situation: hand-written code keeps the old stack pointer behind an array whose size is
// computed. Example: bn_mul_mont of OpenSSL: mov %rax,8(%rsp,%r9,8). Remedy: as long as the index
// stays in its register, the word is as good as one at a fixed place.
AbstractValue AbstractState::place(Register base, const Effect& effect) const {
  AbstractValue address = plus(base, effect.offset);
  if (effect.scale == 0 || address.kind == Kind::unknown) {
    return address;
  }
  if (address.kind != Kind::aligned || !arch_->registers.followed.has(effect.index)) {
    return {};
  }
  address.kind = Kind::indexed;
  address.source = static_cast<std::uint8_t>(effect.index);
  address.scale = effect.scale;
  return address;
}

void AbstractState::apply(const Effect& effect) {
  switch (effect.kind) {
    case Effect::Kind::set:
      return set(effect.destination, plus(effect.source, effect.offset));
    case Effect::Kind::constant:
      return set(effect.destination, AbstractValue::number(effect.offset));
    case Effect::Kind::add:
      return set(effect.destination, sum(effect, 1));
    case Effect::Kind::subtract:
      return set(effect.destination, sum(effect, -1));
    case Effect::Kind::load:
      return set(effect.destination, load(place(effect.source, effect)));
    case Effect::Kind::store:
      return store(place(effect.destination, effect), get(effect.source));
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
  std::bitset<kRegisterLimit> lost = written;
  if (arch_->registers.link) {
    lost.set(*arch_->registers.link);
  }
  lost.reset(arch_->registers.sp);
  for (const Register number : arch_->registers.callee_saved) {
    lost.reset(number);
  }
  registers_.change_each([&](Register number, AbstractValue& value) {
    value = lost.test(number) ? AbstractValue{} : value;
  });
  slots_.erase_if([&](const Slot& slot) {
    return slot.where.kind == Kind::indexed && lost.test(slot.where.source);
  });
  drop_slots_below_sp(true);
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
  const AbstractValue sp = get(arch_->registers.sp);
  const AbstractValue other_sp = other.get(arch_->registers.sp);
  const bool two_bases = sp.kind == Kind::aligned && other_sp.kind == Kind::aligned &&
                         sp != other_sp && get(arch_->registers.fp).kind != Kind::aligned;
  if (two_bases) {  // what lies as far from the stack pointer on both paths is known still
    AbstractState shifted = other;
    shifted.count_from_sp();
    count_from_sp();
    return merge(shifted) || sp.offset != 0;
  }
  if (is_same(other) && compared_ == other.compared_ && moved_away_ == other.moved_away_) {
    return false;
  }
  const AbstractState before = *this;
  const auto both_compared = compared_ == other.compared_ ? compared_ : std::nullopt;
  if (sp != other_sp) {
    move_sp_to_unknown();
  }
  registers_.change_each([&](Register number, AbstractValue& value) {
    if (number != arch_->registers.sp && value != other.get(number)) {
      value = {};
    }
  });
  slots_.erase_if([&](const Slot& slot) {
    return std::ranges::find(other.slots(), slot) == other.slots().end();
  });
  compared_ = both_compared;
  moved_away_ = moved_away_ || other.moved_away_;
  return !is_same(before) || moved_away_ != before.moved_away_;
}

bool AbstractState::knows_frame() const {
  return get(arch_->registers.sp).kind == Kind::cfa || get(arch_->registers.fp).kind == Kind::cfa;
}

bool AbstractState::leans_on_scratch() const {
  const auto& kept = arch_->registers.callee_saved;
  const auto knows = [&](bool scratch) {
    return registers_.find([&](Register number, const AbstractValue& value) {
      const bool is_kept =
          number == arch_->registers.sp || std::ranges::find(kept, number) != kept.end();
      return value.kind == Kind::cfa && is_kept != scratch;
    });
  };
  return knows(true) && !knows(false);
}

bool AbstractState::disagrees(const AbstractState& other) const {
  const AbstractValue mine = get(arch_->registers.sp);
  const AbstractValue theirs = other.get(arch_->registers.sp);
  return mine.is_address() && mine.kind == theirs.kind && mine != theirs;
}

bool AbstractState::keeps_apart(Register number, const AbstractState& other) const {
  const AbstractValue wanted = AbstractValue::on_entry(number);
  const auto holds = [&](const AbstractState& state, const AbstractValue& where) {
    return std::ranges::find(state.slots(), Slot{where, wanted}) != state.slots().end();
  };
  const bool mine = get(number) == wanted;
  const bool theirs = other.get(number) == wanted;
  if (mine == theirs) {
    return false;
  }
  const AbstractState& without = mine ? other : *this;
  const AbstractState& with = mine ? *this : other;
  const auto stored = std::ranges::find(without.slots(), wanted, &Slot::what);
  return stored != without.slots().end() && !holds(with, stored->where);
}

bool AbstractState::saves_otherwise(const AbstractState& other) const {
  return std::ranges::any_of(arch_->registers.callee_saved,
                             [&](Register number) { return keeps_apart(number, other); });
}

void AbstractState::store(const AbstractValue& where, const AbstractValue& what) {
  if (!where.is_address() && (where.kind != Kind::indexed || what.kind != Kind::cfa)) {
    // Through a pointer of unknown origin: compilers keep those away from saved registers.
    moved_away_ = moved_away_ || what == AbstractValue::on_entry(arch_->registers.return_address);
    return;
  }
  // The return address where the call put it is not overwritten by correct code.
  slots_.erase_if([&](const Slot& slot) { return slot.where == where; });
  if (what.kind != Kind::unknown) {
    slots_.add({where, what});
  }
}

AbstractValue AbstractState::load(const AbstractValue& where) const {
  const auto found = std::ranges::find(slots(), where, &Slot::where);
  return where.kind != Kind::unknown && found != slots().end() ? found->what : AbstractValue{};
}

// What was popped is dead: a signal handler may overwrite it at any moment.
//
// Folklore. Situation: the psABI of x86-64 keeps signal handlers away from the 128 bytes below the
// stack pointer, and hand-written code leaves the frame's address there while it lowers the stack
// pointer step by step in a loop. Example: the SHA-2 code of OpenSSL for AVX2: lea -128(%rsp),%rsp;
// push 120(%rsp); lea 8(%rsp),%rsp. Remedy: addresses of the frame stay known there until a call.
void AbstractState::drop_slots_below_sp(bool all) {
  const AbstractValue sp = get(arch_->registers.sp);
  const std::int32_t kept = all ? 0 : arch_->frame.red_zone;
  if (sp.is_address()) {
    slots_.erase_if([&](const Slot& slot) {
      const std::int32_t below = slot.what.kind == Kind::cfa ? kept : 0;
      return slot.where.kind == sp.kind && slot.where.offset < sp.offset - below;
    });
  }
}

}  // namespace whocall
