#include "arguments/format_conversions.h"

#include <cstddef>

namespace whocall {
namespace {

bool is_any(char one, std::string_view of) { return of.find(one) != std::string_view::npos; }

}  // namespace

std::vector<std::uint8_t> sizes_of_conversions(std::string_view format, std::uint8_t word) {
  constexpr std::uint8_t kInt = 4;
  std::vector<std::uint8_t> sizes;
  for (std::size_t at = format.find('%'); at < format.size(); at = format.find('%', at)) {
    std::uint8_t size = kInt;
    const std::size_t first = ++at;
    while (at < format.size() && is_any(format[at], "-+ #0123456789.*lhqjztL'")) {
      if (format[at] == '*') {
        sizes.push_back(kInt);
      }
      size = is_any(format[at], "lqjzt") ? word : size;
      ++at;
    }
    if (at == format.size()) {
      break;
    }
    const std::string_view modifiers = format.substr(first, at - first);
    const bool is_wide = is_any(format[at], "aAeEfFgG") || modifiers.find("ll") < at ||
                         modifiers.find_first_of("qjL") < at;
    if (is_wide && word == kInt) {
      break;  // it takes two words, and maybe one before them
    }
    if (is_any(format[at], "diouxXc")) {
      sizes.push_back(size);
    } else if (is_any(format[at], "spnSC")) {
      sizes.push_back(word);
    }
    ++at;
  }
  return sizes;
}

}  // namespace whocall
