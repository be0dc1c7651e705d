#include "report/form/numbers.h"

namespace whocall {

std::string with_commas(std::size_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string number_runs(std::span<const std::int64_t> values, std::string_view prefix) {
  std::string text;
  const auto put = [&](std::string_view between, std::int64_t value) {
    ((text += text.empty() ? "" : between) += prefix) += std::to_string(value);
  };
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) {
      ++end;
    }
    put(", ", values[i]);
    if (end - i > 2) {
      put("..", values[end - 1]);
      i = end;
    } else {
      ++i;
    }
  }
  return text;
}

}  // namespace whocall
