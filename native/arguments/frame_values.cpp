#include "arguments/frame_values.h"

#include <algorithm>

#include "arguments/register_trail.h"
#include "base/low_bytes.h"

namespace whocall {
namespace {

using Kind = Value::Kind;

constexpr int kDeepestCaller = 12;  // frames that hand on one value

// What is to be added to what a place holds that holds `held`, so that it is `wanted`, as far as
// `needed` bytes of it; a miss where it tells nothing of it.
std::optional<std::int64_t> distance(const ValueTable& table, ValueId held, ValueId wanted,
                                     std::uint8_t needed) {
  while (held != wanted && held != 0) {
    const Value& value = table[held];
    if (value.kind == Kind::sum && value.base == wanted) {
      return wrapped_product(value.number, -1);
    }
    held = table.is_part(held) && value.size >= needed ? value.base : 0;
  }
  return held != 0 ? std::optional<std::int64_t>(0) : std::nullopt;
}

}  // namespace

FrameValues::FrameValues(CodeValues& code, const Thread& thread, const std::vector<Frame>& frames,
                         std::size_t count)
    : code_(code), process_(code.process()), arch_(code.arch()), frames_(frames) {
  const std::size_t wanted = std::min(frames.size(), count + kDeepestCaller);
  const auto registers = registers_of_frames(code.walker(), thread, frames, wanted);
  views_.resize(wanted);
  for (std::size_t i = wanted; i-- != 0;) {  // a call's target may hang on what is farther out
    views_[i].registers = registers[i];
    look_at(i);
  }
}

bool FrameValues::is_preserved(Register number) const {
  const auto& kept = arch_.registers.callee_saved;
  return std::ranges::find(kept, number) != kept.end();
}

void FrameValues::look_at(std::size_t index) {
  View& view = views_[index];
  const Frame& frame = frames_[index];
  const auto function = code_.walker().code().function_at(frame.lookup_pc());
  if (frame.signal_trampoline || frame.evidence.has(Evidence::return_replaced) || !function) {
    return;
  }
  view.called = index + 1 < views_.size() ? called_by(index + 1) : std::nullopt;
  view.entered = view.called == function->begin ||  // nobody called the outermost one
                 (index + 1 < frames_.size() && code_.may_be_entered(function->begin) &&
                  !(view.called && code_.leads_inside(*view.called, *function)));
  view.values = code_.function_at(frame.lookup_pc(), view.entered);
  if (view.values == nullptr) {
    return;
  }
  view.at_call = !frame.interrupted;
  view.state =
      view.at_call ? view.values->before_call(frame.lookup_pc()) : view.values->at(frame.pc);
  if (view.state) {
    const ValueId sp = view.state->get(arch_.registers.sp);
    const ValueTable& table = view.values->table();
    view.sp = table.is(sp, Kind::cfa) ? std::optional(table[sp].number) : std::nullopt;
  }
}

// Where the call goes in which a frame stands; of one through a pointer, by the pointer's value.
std::optional<Address> FrameValues::called_by(std::size_t caller) {
  const Frame& frame = frames_[caller];
  if (frame.interrupted || frame.trust == Trust::scan) {
    return std::nullopt;
  }
  std::optional<Address> called;
  code_.walker().judge().match_call({frames_[caller - 1].pc, {}, frames_[caller - 1].interrupted},
                                    {frame.pc, {}, false}, called);
  if (called) {
    return called;
  }
  const auto found = target(caller);
  return found ? std::optional(arch_.code_address(found->value)) : std::nullopt;
}

// The pointer by which a frame called; 0 where it called by none, or that is not known.
ValueId FrameValues::target_of(std::size_t caller) const {
  const View& view = views_[caller];
  const auto* const step = view.values != nullptr && view.state && view.at_call
                               ? view.values->step_of(frames_[caller].lookup_pc())
                               : nullptr;
  if (step == nullptr || !step->values.target) {
    return 0;
  }
  ValueState state = *view.state;
  return state.value_of(*step->values.target, view.values->table(), step->offset);
}

std::optional<FoundValue> FrameValues::target(std::size_t caller) {
  return evaluate({.index = caller, .id = target_of(caller), .needed = arch_.registers.size});
}

std::optional<Address> FrameValues::entered_at(std::size_t index) const {
  const View& view = views_[index];
  return view.entered && view.values != nullptr ? std::optional(view.values->range().begin)
                                                : std::nullopt;
}

std::optional<FoundValue> FrameValues::by_callee(std::size_t index, const ArgumentPlace& place,
                                                 std::uint8_t needed) {
  const View& view = views_[index];
  if (view.values == nullptr || !view.entered || !view.state) {
    return std::nullopt;
  }
  ValueTable& table = view.values->table();
  const ValueId id = place.reg ? table.entry(*place.reg) : table.entry_word(place.offset);
  return held({.index = index, .id = id, .needed = needed});
}

std::optional<FoundValue> FrameValues::by_caller(std::size_t index, const ArgumentPlace& place,
                                                 std::uint8_t needed, int depth) {
  const View& view = views_[index];
  if (!view.called || view.values == nullptr || index + 1 >= views_.size() ||
      depth > kDeepestCaller) {
    return std::nullopt;
  }
  if (*view.called != view.values->range().begin) {
    return by_jump(index, place, needed, depth);
  }
  return put_by_caller(index, place, needed, depth);
}

// What the code of the frame's caller put there before the call.
std::optional<FoundValue> FrameValues::put_by_caller(std::size_t index, const ArgumentPlace& place,
                                                     std::uint8_t needed, int depth) {
  const View& caller = views_[index + 1];
  if (caller.values == nullptr || !caller.state || !caller.at_call) {
    return std::nullopt;
  }
  if (place.reg) {
    return evaluate({index + 1, caller.state->get(*place.reg), needed, depth + 1});
  }
  const HeldWord* const word =
      caller.sp ? caller.state->word_at(wrapped_sum(*caller.sp, place.offset)) : nullptr;
  return word != nullptr && !word->unsure && word->size >= needed
             ? evaluate({index + 1, word->value, needed, depth + 1})
             : std::nullopt;
}

// Folklore. Situation: rules of a function that nothing called tell a CFA all the same. Example:
// glibc's _start, whose CFA is rsp+8 wherever it stands, also behind its pop, its pushes and the
// alignment of its stack: main's argv would be 16 bytes off. Remedy: of the outermost frame the CFA
// counts where the code leads to the same distance from sp.
Address FrameValues::cfa_of(std::size_t index) const {
  const Frame& frame = frames_[index];
  const auto& sp = views_[index].sp;
  const bool proven = index + 1 < frames_.size() ||
                      (sp && frame.sp == in_register(frame.cfa + static_cast<Address>(*sp)));
  return proven ? frame.cfa : 0;
}

std::optional<FoundValue> FrameValues::evaluate(const Question& asked) {
  const View& view = views_[asked.index];
  if (asked.id == 0 || asked.nested > kDeepestValue) {
    return std::nullopt;
  }
  const Value value = view.values->table()[asked.id];
  const Address cfa = cfa_of(asked.index);
  if (value.kind == Kind::constant) {
    return FoundValue{static_cast<std::uint64_t>(value.number), false};
  }
  if (value.kind == Kind::cfa) {
    return cfa != 0 ? std::optional(
                          FoundValue{in_register(cfa + static_cast<Address>(value.number)), false})
                    : std::nullopt;
  }
  const auto found = held(asked);
  if (found && !found->now) {
    return found;
  }
  const auto made = computed(value, asked);
  return made ? made : found;
}

// By how it was computed, where no place holds it any more.
std::optional<FoundValue> FrameValues::computed(const Value& value, const Question& asked) {
  Question inner = asked;
  inner.id = value.base;
  ++inner.nested;
  switch (value.kind) {
    case Kind::sum: {
      auto base = evaluate(inner);
      if (base) {
        base->value = in_register(base->value + static_cast<std::uint64_t>(value.number));
      }
      return base;
    }
    case Kind::low:
    case Kind::extended: {
      inner.needed = std::min(asked.needed, value.size);
      auto base = evaluate(inner);
      if (base) {
        base->value = value.kind == Kind::low ? low_bytes(base->value, value.size)
                                              : with_sign(base->value, value.size);
      }
      return base;
    }
    case Kind::partial:
      return asked.needed <= value.size ? evaluate(inner) : std::nullopt;
    case Kind::loaded: {
      inner.needed = arch_.registers.size;
      const auto where = evaluate(inner);
      return where ? loaded(in_register(where->value + static_cast<Address>(value.number)),
                            value.size)
                   : std::nullopt;
    }
    case Kind::entry:
      return on_entry(asked, static_cast<Register>(value.number));
    case Kind::entry_word:
      return by_caller(asked.index, {std::nullopt, value.number}, asked.needed, asked.depth);
    default:
      return std::nullopt;
  }
}

// What the frame itself got in a register, where it does not hold that any more.
std::optional<FoundValue> FrameValues::on_entry(const Question& asked, Register number) {
  if (!is_preserved(number)) {
    return by_caller(asked.index, {number}, asked.needed, asked.depth);
  }
  const std::size_t caller = asked.index + 1;
  const auto value = caller < views_.size() && !frames_[caller].interrupted
                         ? views_[caller].registers.get(number)
                         : std::nullopt;
  return value ? std::optional(FoundValue{*value, false}) : std::nullopt;
}

std::optional<FoundValue> FrameValues::loaded(Address where, std::uint8_t size) const {
  const auto value = process_.memory->read_unsigned(where, size, arch_.abi.endian);
  if (!value) {
    return std::nullopt;
  }
  const Mapping* mapping = process_.mapping_at(where);
  const bool constant = mapping != nullptr && mapping->permissions_known && !mapping->writable;
  return FoundValue{*value, !constant};
}

// The value where a place that outlives calls holds it.
std::optional<FoundValue> FrameValues::held(const Question& asked) const {
  const View& view = views_[asked.index];
  const ValueTable& table = view.values->table();
  const FollowedValues<ValueId>& registers = view.state->registers();
  for (Register place = 0; place < registers.count(); ++place) {
    const Register number = registers.number(place);
    const bool outlives = !view.at_call || is_preserved(number);
    const auto by =
        outlives ? distance(table, registers.get(number), asked.id, asked.needed) : std::nullopt;
    const auto value = by ? view.registers.get(number) : std::nullopt;
    if (value) {
      return FoundValue{in_register(*value + static_cast<std::uint64_t>(*by)), false};
    }
  }
  return cfa_of(asked.index) != 0 ? held_on_stack(asked) : std::nullopt;
}

// Folklore. Situation: the words that a caller handed over on its stack are the callee's, which may
// put other values there. Example: gcc keeps a parameter in its place: `n--` is decl 8(%ebp).
// Remedy: they count as the caller's own as long as the callee's code has left them alone; where
// that is not known, only where few functions are handed anything on the stack. A function that was
// jumped to has them from who jumped, who may have changed them.
bool FrameValues::may_be_changed(std::size_t index, const HeldWord& word) const {
  const View& view = views_[index];
  const std::int64_t size = arch_.registers.size;
  const std::int64_t begin =
      wrapped_sum(word.offset, wrapped_product(view.sp.value_or(word.offset), -1));
  if (!view.at_call || index == 0 || begin < 0 || begin >= std::int64_t{kArgumentWords} * size) {
    return false;
  }
  const View& callee = views_[index - 1];
  if (callee.values == nullptr || !callee.entered || !callee.state) {
    return arch_.registers.arguments.empty();
  }
  if (callee.called && *callee.called != callee.values->range().begin) {
    return true;
  }
  const std::int64_t end = std::min(begin + word.size, std::int64_t{kArgumentWords} * size);
  for (std::int64_t at = begin - begin % size; at < end; at += size) {
    const HeldWord* const theirs = callee.state->word_at(at);
    if (theirs == nullptr || theirs->unsure ||
        theirs->value != callee.values->table().entry_word(at)) {
      return true;
    }
  }
  return false;
}

std::uint64_t FrameValues::in_register(std::uint64_t value) const {
  return low_bytes(value, arch_.registers.size);
}

std::optional<FoundValue> FrameValues::held_on_stack(const Question& asked) const {
  const View& view = views_[asked.index];
  const Address cfa = cfa_of(asked.index);
  const std::int64_t red_zone = view.at_call ? 0 : arch_.frame.red_zone;
  std::optional<FoundValue> exposed;
  for (const HeldWord& word : view.state->words()) {
    const bool lives = view.sp && word.offset >= *view.sp - red_zone;
    const auto by = lives && word.size >= asked.needed
                        ? distance(view.values->table(), word.value, asked.id, asked.needed)
                        : std::nullopt;
    const auto value = by ? process_.memory->read_unsigned(cfa + static_cast<Address>(word.offset),
                                                           word.size, arch_.abi.endian)
                          : std::nullopt;
    if (!value) {
      continue;
    }
    const FoundValue found{in_register(*value + static_cast<std::uint64_t>(*by)),
                           word.unsure || is_exposed(view.values->exposed(), word.offset) ||
                               may_be_changed(asked.index, word)};
    if (!found.now) {
      return found;
    }
    exposed = exposed ? exposed : found;
  }
  return exposed;
}

}  // namespace whocall
