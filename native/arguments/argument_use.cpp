#include "arguments/argument_use.h"

#include <algorithm>

namespace whocall {

bool ArgumentUse::uses_what_windows_keeps() const {
  return std::ranges::any_of(kept_by_windows(), [&](std::size_t position) {
    return used.contains(position) || copied[position] != 0;
  });
}

bool ArgumentUse::pushes_what_windows_keeps() const {
  const auto kept = kept_by_windows();
  return !kept.empty() &&
         std::ranges::all_of(kept, [&](std::size_t position) { return pushed.contains(position); });
}

std::optional<Parameters> ArgumentUse::parameters() const {
  Parameters found;
  std::size_t count = places.registers();
  if (const auto unnamed = first_unnamed()) {
    found.variadic = !is_windows();
    count = std::min(count, *unnamed);
  }
  while (count != 0 && size_of(count - 1) == 0) {
    --count;
  }
  const bool local = registers.arguments.empty();
  for (std::size_t i = 0; i < count; ++i) {
    if (local && size_of(i) == 0) {
      return std::nullopt;  // another convention
    }
    found.list.push_back({places[i], size_of(i), is_signed.contains(i)});
  }
  if (local || (count == places.registers() && !found.variadic)) {
    append_those_on_stack(found);
  }
  return found;
}

std::vector<std::size_t> ArgumentUse::kept_by_windows() const {
  const auto& windows = registers.windows_arguments;
  std::vector<std::size_t> kept;
  for (const Register each : registers.arguments) {
    if (!windows.empty() && std::ranges::find(windows, each) == windows.end()) {
      kept.push_back(places.position_of(each));
    }
  }
  return kept;
}

std::uint8_t ArgumentUse::size_of(std::size_t position) const {
  return read[position] != 0 ? read[position] : copied[position];
}

// Of structures that are handed over as copies each word counts; so does each half of an integer
// that is larger than a register.
void ArgumentUse::append_those_on_stack(Parameters& found) const {
  std::size_t last = read.size();
  while (last != places.registers() && size_of(last - 1) == 0 && !foreign.contains(last - 1)) {
    --last;
  }
  for (std::size_t i = places.registers(); i < last; ++i) {
    const std::uint8_t size = foreign.contains(i) ? std::uint8_t{0} : size_of(i);
    found.list.push_back({places[i], size, is_signed.contains(i)});
    const auto wide = foreign.find(i);  // a double takes two words of 4 bytes
    i += wide != foreign.end() && wide->second > registers.size ? 1 : 0;
  }
}

// Folklore. Situation: a function takes arguments by va_arg, and saves all registers that may
// hold some. Example: error(const char *format, ...) stores rsi to r9 side by side, and the
// vector registers where al says that there are any. Remedy: at least two, up to the last
// register, that are stored side by side in their order and not looked at otherwise are no
// parameters by name. Where va_list is a pointer (ARM, RISC-V), they lie just below the words of
// the caller's stack, and may be read again there; pushed with them for the stack's alignment is
// one by name. Code of Windows has a word of the stack for each register, which any function may
// use: where the address of the first one is taken, nobody knows, and nothing is said of them.
std::optional<std::size_t> ArgumentUse::first_unnamed() const {
  const std::size_t count = places.registers();
  std::size_t first = count;
  while (first != 0 && is_saved_only(first - 1) &&
         (first == count || saved.at(first - 1) + registers.size == saved.at(first))) {
    --first;
  }
  if (is_windows()) {
    return first < count && exposed.contains(places.offset_of(first)) ? std::optional(first)
                                                                      : std::nullopt;
  }
  const bool any = first + 2 <= count ||
                   (first + 1 == count && first != 0 && is_at_home(first) && is_at_home(first - 1));
  return any ? std::optional(first) : std::nullopt;
}

bool ArgumentUse::is_saved_only(std::size_t position) const {
  return saved.contains(position) && !used.contains(position) &&
         (!reloaded.contains(position) || (is_at_home(position) && !is_windows()));
}

bool ArgumentUse::is_at_home(std::size_t position) const {
  const auto kept = saved.find(position);
  return kept != saved.end() && kept->second == places.offset_of(position);
}

}  // namespace whocall
