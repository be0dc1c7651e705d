#include "symbols/jit/perf_map.h"

#include "base/text_lines.h"

namespace whocall {

void read_perf_map(std::string_view text, JitFunctions& functions, Budget& budget) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const auto start = hexadecimal(take_word(line));
    const auto size = hexadecimal(take_word(line));
    const std::string_view name = trimmed(line);
    if (start && size && *size <= ~*start) {
      if (!budget.draw(Cost::jit_functions, 1)) {
        return;
      }
      functions.add({{*start, *start + *size}, std::string(name), NameSource::perf_map, {}});
    }
  }
}

}  // namespace whocall
