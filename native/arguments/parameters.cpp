#include "arguments/parameters.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "arguments/argument_use.h"
#include "arguments/call_convention.h"
#include "arguments/format_conversions.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestFormat = 512;  // bytes

class Reads {
 public:
  Reads(FunctionValues& values, const ProcessImage& process, KnownParameters& others,
        CallConvention convention)
      : values_(values),
        process_(process),
        arch_(*process.arch),
        others_(others),
        use_(arch_.registers, convention) {}

  ArgumentUse look() && {
    values_.visit(
        [&](const FunctionValues::Step& step, const ValueState& state) { look_at(step, state); });
    use_.exposed = values_.exposed();
    return std::move(use_);
  }

 private:
  [[nodiscard]] bool holds(const ValueState& state, const ArgumentPlace& place) const {
    if (place.reg) {
      return state.get(*place.reg) == values_.table().entry(*place.reg);
    }
    const HeldWord* const word = state.word_at(place.offset);
    return word != nullptr && word->value == values_.table().entry_word(place.offset);
  }
  void look_at(const FunctionValues::Step& step, const ValueState& state) {
    for (const ValueFlow::Read& read : step.values.reads) {
      const auto [position, size] = handed_in(state.get(read.number));
      if (position == use_.read.size()) {
        continue;
      }
      const std::uint8_t used = std::min(size, read.size);
      note_sign(step, position);
      if (is_copy(step)) {
        use_.copied[position] = std::max(use_.copied[position], used);
        continue;
      }
      note(position, used);
      if (const auto slot = saved_in(step, state, read.number)) {
        use_.saved.emplace(position, *slot);
      } else {
        use_.used.insert(position);
      }
    }
    for (const ValueFlow::Load& load : step.values.loads) {
      look_at_load(step, load, state);
    }
    for (const ValueWrite& write : step.values.writes) {
      look_for_reload(write, state);
    }
    look_at_pushes(step, state);
    const bool leaves = step.flow == Instruction::Flow::call ||
                        (step.flow == Instruction::Flow::jump && step.target &&
                         !values_.range().contains(*step.target));
    if (leaves && !step.values.before_call.empty()) {
      hand_on(step, values_.at_call(step, state));
    } else if (leaves) {
      hand_on(step, state);
    }
  }

  // Which argument a value is, and how many bytes of it; none: beyond the last.
  [[nodiscard]] std::pair<std::size_t, std::uint8_t> handed_in(ValueId id) const {
    std::uint8_t size = arch_.registers.size;
    const ValueTable& table = values_.table();
    while (table.is_part(id)) {
      size = std::min(size, table[id].size);
      id = table[id].base;
    }
    if (table.is(id, Value::Kind::entry)) {
      return {use_.places.position_of(static_cast<Register>(table[id].number)), size};
    }
    return {table.is(id, Value::Kind::entry_word) ? use_.places.position_of(table[id].number)
                                                  : use_.read.size(),
            size};
  }

  // Words that the caller left on its stack.
  void look_at_load(const FunctionValues::Step& step, const ValueFlow::Load& load,
                    const ValueState& state) {
    const auto offset = offset_in_frame(load.place, state);
    const std::size_t position = offset ? use_.places.position_of(*offset) : use_.read.size();
    if (position == use_.read.size() || !holds(state, use_.places[position])) {
      return;
    }
    if (!load.general) {
      use_.foreign.emplace(position, load.size);
      return;
    }
    const auto inside = static_cast<unsigned>(*offset - use_.places.offset_of(position));
    const auto used =
        static_cast<std::uint8_t>(std::min<unsigned>(inside + load.size, arch_.registers.size));
    note_sign(step, position);
    auto& kept = is_whole_copy(step) ? use_.copied : use_.read;
    kept[position] = std::max(kept[position], used);
  }
  [[nodiscard]] std::optional<std::int64_t> offset_in_frame(const ValueAddress& place,
                                                            const ValueState& state) const {
    if (!place.known || place.index || !place.base) {
      return std::nullopt;
    }
    const ValueId base = state.get(*place.base);
    return values_.table().is(base, Value::Kind::cfa)
               ? std::optional(wrapped_sum(values_.table()[base].number, place.offset))
               : std::nullopt;
  }
  // A whole word goes to a register.
  [[nodiscard]] bool is_whole_copy(const FunctionValues::Step& step) const {
    const auto& writes = step.values.writes;
    return writes.size() == 1 && writes.front().destination &&
           writes.front().from == ValueWrite::From::memory && !writes.front().is_signed &&
           writes.front().size >= arch_.registers.size;
  }

  // Folklore. Situation: an argument is copied by whole registers, whatever its type. Example:
  // mov %edi,%eax; mov %ax,-20(%rbp) for a short. Remedy: what is done with the copies tells.
  [[nodiscard]] static bool is_copy(const FunctionValues::Step& step) {
    constexpr std::uint8_t kWhole = 4;
    const auto& writes = step.values.writes;
    return writes.size() == 1 && writes.front().destination &&
           writes.front().from == ValueWrite::From::reg && !writes.front().is_signed &&
           (writes.front().size >= kWhole || writes.front().only_low != 0);
  }

  void note_sign(const FunctionValues::Step& step, std::size_t position) {
    for (const ValueWrite& write : step.values.writes) {
      note_sign(write, position);
    }
  }
  void note_sign(const ValueWrite& write, std::size_t position) {
    if (write.is_signed && write.size < arch_.registers.size) {
      use_.is_signed.insert(position);
    }
  }

  void note(std::size_t position, std::uint8_t size) {
    use_.read[position] = std::max(use_.read[position], size);
  }

  // Where on the stack it is stored whole, if that is all that is done with it.
  [[nodiscard]] std::optional<std::int64_t> saved_in(const FunctionValues::Step& step,
                                                     const ValueState& state,
                                                     Register number) const {
    const auto& writes = step.values.writes;  // one, or those of a pair
    const auto found = std::ranges::find_if(writes, [&](const ValueWrite& each) {
      return each.from == ValueWrite::From::reg && each.source == number;
    });
    if (found == writes.end() || std::ranges::any_of(writes, [&](const ValueWrite& each) {
          return each.destination && *each.destination != arch_.registers.sp;
        })) {
      return std::nullopt;
    }
    return found->stored_size == arch_.registers.size ? offset_in_frame(found->stored_at, state)
                                                      : std::nullopt;
  }

  // Pushes read nothing, as they may only lower the stack.
  void look_at_pushes(const FunctionValues::Step& step, const ValueState& state) {
    const auto& writes = step.values.writes;
    const bool lowers = std::ranges::any_of(
        writes, [&](const ValueWrite& each) { return each.destination == arch_.registers.sp; });
    for (const ValueWrite& write : writes) {
      if (lowers && !write.destination && write.from == ValueWrite::From::reg) {
        use_.pushed.insert(handed_in(state.get(write.source)).first);
      }
    }
  }

  // Whether it reads again what was saved on the stack.
  void look_for_reload(const ValueWrite& write, const ValueState& state) {
    const auto offset =
        write.from == ValueWrite::From::memory ? offset_in_frame(write.place, state) : std::nullopt;
    const HeldWord* const word = offset ? state.word_at(*offset) : nullptr;
    const std::size_t position = word != nullptr ? handed_in(word->value).first : use_.read.size();
    if (position != use_.read.size()) {
      use_.reloaded.insert(position);
      note_sign(write, position);
    }
  }

  // What it passes on untouched to a function that takes it.
  void hand_on(const FunctionValues::Step& step, const ValueState& state) {
    bool any = false;
    for (std::size_t i = 0; i < use_.read.size(); ++i) {
      any = any || is_left(step, state, use_.places[i]);
    }
    const Address next = values_.range().begin + step.offset + step.size;
    const Parameters* taken = any ? others_.taken_at(step, next) : nullptr;
    if (taken == nullptr) {
      return;
    }
    for (const Parameter& each : taken->list) {
      if (is_left(step, state, each.place)) {
        pass_on(each.place, each.size);
      }
    }
    if (taken->variadic && !taken->list.empty()) {
      std::size_t position = taken->list.size();
      for (const std::uint8_t size : told_by_format(state, taken->list.back().place)) {
        if (position < use_.places.registers() && holds(state, use_.places[position])) {
          pass_on(use_.places[position], size);
        }
        ++position;
      }
    }
  }
  // Words of the stack are handed on by jumps alone: a call has others.
  [[nodiscard]] bool is_left(const FunctionValues::Step& step, const ValueState& state,
                             const ArgumentPlace& place) const {
    return (place.reg || step.flow != Instruction::Flow::call) && holds(state, place);
  }
  void pass_on(const ArgumentPlace& place, std::uint8_t size) {
    const std::size_t position =
        place.reg ? use_.places.position_of(*place.reg) : use_.places.position_of(place.offset);
    if (size != 0 && position < use_.read.size()) {
      note(position, size);
      use_.used.insert(position);
    }
  }

  // Folklore. Situation: what a function takes goes straight to one that takes a variable number.
  // Example: fail(const char *why) is fprintf(stderr, "%s\n", why). Remedy: the last argument by
  // name is a format, which tells of the others.
  [[nodiscard]] std::vector<std::uint8_t> told_by_format(const ValueState& state,
                                                         const ArgumentPlace& place) const {
    const ValueId format = place.reg ? state.get(*place.reg) : 0;
    if (!values_.table().is(format, Value::Kind::constant)) {
      return {};
    }
    std::array<std::byte, kLongestFormat> bytes{};
    const auto size =
        process_.memory->read(static_cast<Address>(values_.table()[format].number), bytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), size);
    const std::size_t end = text.find('\0');
    return end != std::string_view::npos
               ? sizes_of_conversions(text.substr(0, end), arch_.registers.size)
               : std::vector<std::uint8_t>();
  }

  FunctionValues& values_;
  const ProcessImage& process_;
  const Architecture& arch_;
  KnownParameters& others_;
  ArgumentUse use_;
};

}  // namespace

std::optional<Parameters> parameters_of(FunctionValues& values, const ProcessImage& process,
                                        KnownParameters& others) {
  const auto looked = [&](CallConvention convention) {
    return Reads(values, process, others, convention).look();
  };
  if (is_of_windows(values, process)) {
    return looked(CallConvention::windows).parameters();
  }
  const ArgumentUse use = looked(CallConvention::native);
  if (use.uses_what_windows_keeps()) {
    return use.parameters();
  }
  if (keeps_as_windows(values, process)) {
    return looked(CallConvention::windows).parameters();
  }
  return use.pushes_what_windows_keeps() ? std::nullopt : use.parameters();
}

}  // namespace whocall
