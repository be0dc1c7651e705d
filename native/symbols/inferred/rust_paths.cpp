#include "symbols/inferred/rust_paths.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace whocall {
namespace {

constexpr std::string_view kSource = "/src/";
constexpr std::array<std::string_view, 4> kLibraries = {
    "/rustlib/src/rust/library/", "/rustlib/src/rust/src/",
    "/rustc-1.",  // where distributions build the compiler: /usr/src/rustc-1.63.0/library/...
    "/rust/deps/"};
// What the standard library is built with, by those who build it themselves.
constexpr std::string_view kBuildersCrates = "/cargo/registry/src/";
constexpr std::array<std::string_view, 8> kCratesInside = {
    "gimli",          "addr2line", "object", "miniz_oxide",
    "rustc-demangle", "hashbrown", "adler",  "memchr"};

bool is_digit(char each) { return each >= '0' && each <= '9'; }

// Where the crate's own folder begins: behind the last of those before its "src"; npos where there
// is no such folder.
std::size_t crate_begin(std::string_view path) {
  const std::size_t source = path.rfind(kSource);
  if (source == std::string_view::npos) {
    return std::string_view::npos;
  }
  const std::size_t slash = path.substr(0, source).rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

// "1.9.1", "0.2.139+rc1"
bool is_version(std::string_view text) {
  return !text.empty() && is_digit(text.front()) && text.find('.') != std::string_view::npos;
}

// Without the version; empty where there is none.
std::string_view without_version(std::string_view folder) {
  for (std::size_t at = folder.find('-'); at != std::string_view::npos;
       at = folder.find('-', at + 1)) {
    if (is_version(folder.substr(at + 1))) {
      return folder.substr(0, at);
    }
  }
  return {};
}

std::string_view folder_of_crate(std::string_view path) {
  const std::size_t begin = crate_begin(path);
  return begin == std::string_view::npos ? std::string_view()
                                         : path.substr(begin, path.rfind(kSource) - begin);
}

}  // namespace

bool is_standard_rust(std::string_view path) {
  if (path.starts_with("/rustc/") || path.starts_with("library/")) {
    return true;
  }
  if (path.starts_with(kBuildersCrates) &&
      std::ranges::find(kCratesInside, without_version(folder_of_crate(path))) !=
          kCratesInside.end()) {
    return true;
  }
  for (const std::string_view each : kLibraries) {
    if (path.find(each) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::string crate_of_path(std::string_view path) {
  const std::string_view folder = folder_of_crate(path);
  if (const std::string_view name = without_version(folder); !name.empty()) {
    return std::string(name);
  }
  return is_standard_rust(path) ? std::string(folder) : std::string();
}

std::string module_of_path(std::string_view path) {
  constexpr std::string_view kAny = "src/";
  const std::size_t source = path.rfind(kSource);
  std::string_view rest = path;
  if (source != std::string_view::npos) {
    rest = path.substr(source + kSource.size());
  } else if (path.starts_with(kAny)) {
    rest = path.substr(kAny.size());
  } else {
    return {};
  }
  if (rest.ends_with(".rs")) {
    rest.remove_suffix(3);
  }
  if (rest == "lib" || rest == "main" || rest == "mod") {
    return {};
  }
  if (rest.ends_with("/mod")) {
    rest.remove_suffix(4);
  }
  std::string module;
  for (const char each : rest) {
    module += each == '/' ? std::string("::") : std::string(1, each);
  }
  return module;
}

std::string_view short_rust_path(std::string_view path) {
  const bool known = is_standard_rust(path) || !without_version(folder_of_crate(path)).empty();
  const std::size_t begin = known ? crate_begin(path) : std::string_view::npos;
  return begin == std::string_view::npos ? path : path.substr(begin);
}

}  // namespace whocall
