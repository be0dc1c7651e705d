#include "arguments/parameters.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace whocall {
namespace {

constexpr std::size_t kLongestFormat = 512;  // bytes

bool is_any(char one, std::string_view of) { return of.find(one) != std::string_view::npos; }

// Bytes of the integers and pointers that a format of printf's asks for, in order.
std::vector<std::uint8_t> sizes_of_conversions(std::string_view format) {
  constexpr std::uint8_t kInt = 4;
  constexpr std::uint8_t kLong = 8;
  std::vector<std::uint8_t> sizes;
  for (std::size_t at = format.find('%'); at < format.size(); at = format.find('%', at)) {
    std::uint8_t size = kInt;
    ++at;
    while (at < format.size() && is_any(format[at], "-+ #0123456789.*lhqjztL'")) {
      if (format[at] == '*') {
        sizes.push_back(kInt);
      }
      size = is_any(format[at], "lqjzt") ? kLong : size;
      ++at;
    }
    if (at == format.size()) {
      break;
    }
    if (is_any(format[at], "diouxXc")) {
      sizes.push_back(size);
    } else if (is_any(format[at], "spnSC")) {
      sizes.push_back(kLong);
    }
    ++at;
  }
  return sizes;
}

class Reads {
 public:
  Reads(FunctionValues& values, const ProcessImage& process, KnownParameters& others)
      : values_(values),
        process_(process),
        arch_(*process.arch),
        others_(others),
        read_(arch_.registers.arguments.size()),
        copied_(read_.size()) {}

  Parameters find() {
    values_.visit(
        [&](const FunctionValues::Step& step, const ValueState& state) { look_at(step, state); });
    Parameters found;
    std::size_t count = read_.size();
    if (const auto unnamed = first_unnamed()) {
      found.variadic = true;
      count = std::min(count, *unnamed);
    }
    const auto size = [&](std::size_t i) { return read_[i] != 0 ? read_[i] : copied_[i]; };
    while (count != 0 && size(count - 1) == 0) {
      --count;
    }
    for (std::size_t i = 0; i < count; ++i) {
      found.list.push_back({size(i), signed_.contains(i)});
    }
    return found;
  }

 private:
  [[nodiscard]] bool holds(const ValueState& state, std::size_t position) const {
    const Register number = arch_.registers.arguments[position];
    return state.get(number) == values_.table().entry(number);
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
    for (const ValueWrite& write : step.values.writes) {
      look_for_reload(write, state);
    }
    const bool leaves = step.flow == Instruction::Flow::call ||
                        (step.flow == Instruction::Flow::jump && step.target &&
                         !values_.range().contains(*step.target));
    if (leaves) {
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
    const auto& all = arch_.registers.arguments;
    const auto found = table.is(id, Value::Kind::entry)
                           ? std::ranges::find(all, static_cast<Register>(table[id].number))
                           : all.end();
    return {static_cast<std::size_t>(found - all.begin()), size};
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
    if (found == writes.end() || std::ranges::any_of(writes, [](const ValueWrite& each) {
          return each.destination.has_value();
        })) {
      return std::nullopt;
    }
    const ValueWrite& write = *found;
    if (write.stored_size != arch_.registers.size || !write.stored_at.known ||
        write.stored_at.index || !write.stored_at.base) {
      return std::nullopt;
    }
    const ValueId base = state.get(*write.stored_at.base);
    return values_.table().is(base, Value::Kind::cfa)
               ? std::optional(wrapped_sum(values_.table()[base].number, write.stored_at.offset))
               : std::nullopt;
  }

  // Whether it reads again what was saved on the stack.
  void look_for_reload(const ValueWrite& write, const ValueState& state) {
    if (write.from != ValueWrite::From::memory || !write.place.base || write.place.index) {
      return;
    }
    const ValueId base = state.get(*write.place.base);
    if (!values_.table().is(base, Value::Kind::cfa)) {
      return;
    }
    const HeldWord* const word =
        state.word_at(wrapped_sum(values_.table()[base].number, write.place.offset));
    const std::size_t position = word != nullptr ? handed_in(word->value).first : read_.size();
    if (position != read_.size()) {
      used_.insert(position);
      note_sign(write, position);
    }
  }

  // What it passes on untouched to a function that takes it.
  void hand_on(const FunctionValues::Step& step, const ValueState& state) {
    bool any = false;
    for (std::size_t i = 0; i < read_.size(); ++i) {
      any = any || holds(state, i);
    }
    const Address next = values_.range().begin + step.offset + step.size;
    const Parameters* taken = any ? others_.taken_at(step, next) : nullptr;
    if (taken == nullptr) {
      return;
    }
    for (std::size_t i = 0; i < std::min(read_.size(), taken->list.size()); ++i) {
      hand_on(i, taken->list[i].size, state);
    }
    if (taken->variadic && !taken->list.empty()) {
      std::size_t position = taken->list.size();
      for (const std::uint8_t size : told_by_format(state, position - 1)) {
        hand_on(position++, size, state);
      }
    }
  }

  void hand_on(std::size_t position, std::uint8_t size, const ValueState& state) {
    if (size != 0 && position < read_.size() && holds(state, position)) {
      note(position, size);
      used_.insert(position);
    }
  }

  // Folklore. Situation: what a function takes goes straight to one that takes a variable number.
  // Example: fail(const char *why) is fprintf(stderr, "%s\n", why). Remedy: the last argument by
  // name is a format, which tells of the others.
  [[nodiscard]] std::vector<std::uint8_t> told_by_format(const ValueState& state,
                                                         std::size_t position) const {
    const ValueId format = state.get(arch_.registers.arguments[position]);
    if (!values_.table().is(format, Value::Kind::constant)) {
      return {};
    }
    std::array<std::byte, kLongestFormat> bytes{};
    const auto size =
        process_.memory->read(static_cast<Address>(values_.table()[format].number), bytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), size);
    const std::size_t end = text.find('\0');
    return end != std::string_view::npos ? sizes_of_conversions(text.substr(0, end))
                                         : std::vector<std::uint8_t>();
  }

  // Folklore. Situation: a function takes arguments by va_arg, and saves all registers that may
  // hold some. Example: error(const char *format, ...) stores rsi to r9 side by side, and the
  // vector registers where al says that there are any. Remedy: at least two, up to the last
  // register, that are stored side by side in their order and not looked at otherwise are no
  // parameters by name.
  [[nodiscard]] std::optional<std::size_t> first_unnamed() const {
    std::size_t first = read_.size();
    while (first != 0 && saved_.contains(first - 1) && !used_.contains(first - 1) &&
           (first == read_.size() ||
            saved_.at(first - 1) + arch_.registers.size == saved_.at(first))) {
      --first;
    }
    return first + 2 <= read_.size() ? std::optional(first) : std::nullopt;
  }

  FunctionValues& values_;
  const ProcessImage& process_;
  const Architecture& arch_;
  KnownParameters& others_;
  std::vector<std::uint8_t> read_;             // by position: bytes that are used
  std::vector<std::uint8_t> copied_;           // bytes that are copied to other registers
  std::map<std::size_t, std::int64_t> saved_;  // by position: where on the stack
  std::set<std::size_t> used_;                 // otherwise
  std::set<std::size_t> signed_;               // widened with their sign
};

}  // namespace

Parameters parameters_of(FunctionValues& values, const ProcessImage& process,
                         KnownParameters& others) {
  return Reads(values, process, others).find();
}

}  // namespace whocall
