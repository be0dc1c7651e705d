#include "arguments/parameters.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

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
        windows_(convention == CallConvention::windows),
        places_(arch_.registers, convention),
        read_(places_.count()),
        copied_(read_.size()) {}

  std::optional<Parameters> find() {
    values_.visit(
        [&](const FunctionValues::Step& step, const ValueState& state) { look_at(step, state); });
    Parameters found;
    std::size_t count = places_.registers();
    if (const auto unnamed = first_unnamed()) {
      found.variadic = true;
      count = std::min(count, *unnamed);
    }
    while (count != 0 && size_of(count - 1) == 0) {
      --count;
    }
    const bool local = arch_.registers.arguments.empty();
    for (std::size_t i = 0; i < count; ++i) {
      if (local && size_of(i) == 0) {
        return std::nullopt;  // another convention
      }
      found.list.push_back({places_[i], size_of(i), signed_.contains(i)});
    }
    if (local || (count == places_.registers() && !found.variadic)) {
      append_those_on_stack(found);
    }
    return found;
  }

 private:
  [[nodiscard]] std::uint8_t size_of(std::size_t position) const {
    return read_[position] != 0 ? read_[position] : copied_[position];
  }
  // Of structures that are handed over as copies each word counts; so does each half of an integer
  // that is larger than a register.
  void append_those_on_stack(Parameters& found) const {
    std::size_t last = read_.size();
    while (last != places_.registers() && size_of(last - 1) == 0 && !foreign_.contains(last - 1)) {
      --last;
    }
    for (std::size_t i = places_.registers(); i < last; ++i) {
      const std::uint8_t size = foreign_.contains(i) ? std::uint8_t{0} : size_of(i);
      found.list.push_back({places_[i], size, signed_.contains(i)});
      const auto wide = foreign_.find(i);  // a double takes two words of 4 bytes
      i += wide != foreign_.end() && wide->second > arch_.registers.size ? 1 : 0;
    }
  }

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
      if (position == read_.size()) {
        continue;
      }
      const std::uint8_t used = std::min(size, read.size);
      note_sign(step, position);
      if (is_copy(step)) {
        copied_[position] = std::max(copied_[position], used);
        continue;
      }
      note(position, used);
      if (const auto slot = saved_in(step, state, read.number)) {
        saved_.emplace(position, *slot);
      } else {
        used_.insert(position);
      }
    }
    for (const ValueFlow::Load& load : step.values.loads) {
      look_at_load(step, load, state);
    }
    for (const ValueWrite& write : step.values.writes) {
      look_for_reload(write, state);
    }
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
      return {places_.position_of(static_cast<Register>(table[id].number)), size};
    }
    return {table.is(id, Value::Kind::entry_word) ? places_.position_of(table[id].number)
                                                  : read_.size(),
            size};
  }

  // Words that the caller left on its stack.
  void look_at_load(const FunctionValues::Step& step, const ValueFlow::Load& load,
                    const ValueState& state) {
    const auto offset = offset_in_frame(load.place, state);
    const std::size_t position = offset ? places_.position_of(*offset) : read_.size();
    if (position == read_.size() || !holds(state, places_[position])) {
      return;
    }
    if (!load.general) {
      foreign_.emplace(position, load.size);
      return;
    }
    const auto inside = static_cast<unsigned>(*offset - places_.offset_of(position));
    const auto used =
        static_cast<std::uint8_t>(std::min<unsigned>(inside + load.size, arch_.registers.size));
    note_sign(step, position);
    auto& kept = is_whole_copy(step) ? copied_ : read_;
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
      signed_.insert(position);
    }
  }

  void note(std::size_t position, std::uint8_t size) {
    read_[position] = std::max(read_[position], size);
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

  // Whether it reads again what was saved on the stack.
  void look_for_reload(const ValueWrite& write, const ValueState& state) {
    const auto offset =
        write.from == ValueWrite::From::memory ? offset_in_frame(write.place, state) : std::nullopt;
    const HeldWord* const word = offset ? state.word_at(*offset) : nullptr;
    const std::size_t position = word != nullptr ? handed_in(word->value).first : read_.size();
    if (position != read_.size()) {
      reloaded_.insert(position);
      note_sign(write, position);
    }
  }

  // What it passes on untouched to a function that takes it.
  void hand_on(const FunctionValues::Step& step, const ValueState& state) {
    bool any = false;
    for (std::size_t i = 0; i < read_.size(); ++i) {
      any = any || is_left(step, state, places_[i]);
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
        if (position < places_.registers() && holds(state, places_[position])) {
          pass_on(places_[position], size);
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
        place.reg ? places_.position_of(*place.reg) : places_.position_of(place.offset);
    if (size != 0 && position < read_.size()) {
      note(position, size);
      used_.insert(position);
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

  // Folklore. Situation: a function takes arguments by va_arg, and saves all registers that may
  // hold some. Example: error(const char *format, ...) stores rsi to r9 side by side, and the
  // vector registers where al says that there are any. Remedy: at least two, up to the last
  // register, that are stored side by side in their order and not looked at otherwise are no
  // parameters by name. Where va_list is a pointer (ARM, RISC-V), they lie just below the words of
  // the caller's stack, and may be read again there; pushed with them for the stack's alignment is
  // one by name. Code of Windows has a word of the stack for each register, which any function may
  // use: there the address of the first one is taken.
  [[nodiscard]] std::optional<std::size_t> first_unnamed() const {
    const std::size_t count = places_.registers();
    std::size_t first = count;
    while (first != 0 && is_saved_only(first - 1) &&
           (first == count || saved_.at(first - 1) + arch_.registers.size == saved_.at(first))) {
      --first;
    }
    if (windows_) {
      return first < count && values_.exposed().contains(places_.offset_of(first))
                 ? std::optional(first)
                 : std::nullopt;
    }
    const bool any = first + 2 <= count || (first + 1 == count && first != 0 && is_at_home(first) &&
                                            is_at_home(first - 1));
    return any ? std::optional(first) : std::nullopt;
  }
  [[nodiscard]] bool is_saved_only(std::size_t position) const {
    return saved_.contains(position) && !used_.contains(position) &&
           (!reloaded_.contains(position) || (is_at_home(position) && !windows_));
  }
  [[nodiscard]] bool is_at_home(std::size_t position) const {
    const auto saved = saved_.find(position);
    return saved != saved_.end() && saved->second == places_.offset_of(position);
  }

  FunctionValues& values_;
  const ProcessImage& process_;
  const Architecture& arch_;
  KnownParameters& others_;
  bool windows_;
  ArgumentPlaces places_;
  std::vector<std::uint8_t> read_;               // by position: bytes that are used
  std::vector<std::uint8_t> copied_;             // bytes that are copied to other registers
  std::map<std::size_t, std::int64_t> saved_;    // by position: where on the stack
  std::set<std::size_t> used_;                   // otherwise
  std::set<std::size_t> reloaded_;               // from there
  std::set<std::size_t> signed_;                 // widened with their sign
  std::map<std::size_t, std::uint8_t> foreign_;  // read as no integer, so many bytes
};

}  // namespace

std::optional<Parameters> parameters_of(FunctionValues& values, const ProcessImage& process,
                                        KnownParameters& others) {
  return Reads(values, process, others, convention_of(values, process)).find();
}

}  // namespace whocall
