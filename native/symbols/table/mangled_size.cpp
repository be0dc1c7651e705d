#include "symbols/table/mangled_size.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace whocall {
namespace {

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
constexpr bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }
constexpr bool is_lower(char letter) { return letter >= 'a' && letter <= 'z'; }
constexpr bool is_alnum(char letter) {
  return is_digit(letter) || is_upper(letter) || is_lower(letter);
}

// Itanium: references to what stands before, S_, S0_, T_, T12_.
std::size_t references(std::string_view name) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == 'S' || name[at] == 'T') {
      const std::size_t end = std::min(
          name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1), name.size());
      count += end < name.size() && name[end] == '_' ? 1 : 0;
    }
  }
  return count;
}

// Folklore. Situation: libiberty looks for the pack that an expansion is of in everything that
// stands in it, as often as it is referred to, before it writes a letter. Example: types of which
// each has the one before it twice, 24 times, in a `Dp`. Remedy: of 5,000 names with expansions in
// the libraries of a distribution none has more than 31 references. The most that so many can make
// of a name is three times itself for every three.
bool searches_for_packs(std::string_view name) {
  constexpr std::size_t kMostReferences = 36;
  static constexpr std::array<std::string_view, 4> kExpansions = {"Dp", "sp", "sZ", "sP"};
  return std::ranges::any_of(
             kExpansions,
             [&](std::string_view word) { return name.find(word) != std::string_view::npos; }) &&
         references(name) > kMostReferences;
}

// Folklore. Situation: Rust's `for<'a, 'b>` is a number of lifetimes, which libiberty counts up to
// where it writes nothing too: in the path of an `impl`, and in the crate behind a name's path.
// Example: `_RNvMC3fooFGzzzzzz_Eu3bar`, `_RC3f_RYDGFGZFGFSto_`. Remedy: programs have a handful, a
// number of one or two digits, which stands behind the F of a function's type or the D of a
// trait's. (`6GlobalE...` is an identifier; one with FG or DG and more in it costs its name.)
bool counts_lifetimes(std::string_view name) {
  constexpr std::size_t kMostDigits = 2;
  for (std::size_t at = name.find('G'); at != std::string_view::npos; at = name.find('G', at + 1)) {
    std::size_t end = at + 1;
    while (end < name.size() && is_alnum(name[end])) {
      ++end;
    }
    const bool is_binder = at > 0 && (name[at - 1] == 'F' || name[at - 1] == 'D');
    if (is_binder && end < name.size() && name[end] == '_' && end - at - 1 > kMostDigits) {
      return true;
    }
  }
  return false;
}

// D: how far back the reference at `at` (behind its Q) goes, in base 26, whose last digit is a
// small letter.
std::size_t distance_back(std::string_view name, std::size_t at) {
  std::size_t distance = 0;
  while (at < name.size() && is_upper(name[at]) && distance < name.size()) {
    distance = distance * 26 + static_cast<std::size_t>(name[at++] - 'A');
  }
  return at < name.size() && is_lower(name[at])
             ? distance * 26 + static_cast<std::size_t>(name[at] - 'a')
             : 0;
}

// D: references double what they refer to, and what libiberty writes of them it keeps. What one
// refers to ends before it at the latest; an identifier is referred to by its length.
bool grows_without_end(std::string_view name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 22U;  // bytes
  std::vector<std::uint64_t> size(name.size() + 1);         // of what is told before each byte
  for (std::size_t at = 0; at < name.size(); ++at) {
    std::uint64_t own = 1;
    if (name[at] == 'Q') {
      const std::size_t back = distance_back(name, at + 1);
      if (back != 0 && back <= at && !is_digit(name[at - back])) {
        own += size[at] - size[at - back];
      }
    }
    size[at + 1] = std::min(size[at] + own, kMost);
  }
  return size.back() >= kMost;
}

}  // namespace

bool has_endless_work(std::string_view mangled) {
  if (mangled.starts_with("_D")) {
    return grows_without_end(mangled);
  }
  return mangled.starts_with("_R") ? counts_lifetimes(mangled) : searches_for_packs(mangled);
}

}  // namespace whocall
