#include "symbols/table/demangler.h"

// Or its libiberty.h declares basename() in a way of its own.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace whocall {
namespace {

// Each scheme's own function, not cplus_demangle(): that one hangs on a global style. Rust goes
// first, because names of its older scheme are C++ names with a hash behind them. None goes deeper
// than libiberty's DEMANGLE_RECURSION_LIMIT.
char* demangle_any(const char* name) {
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI;  // no implementation details (a Rust hash)
  if (name[1] == 'D') {
    return dlang_demangle(name, kOptions);
  }
  char* text = rust_demangle(name, kOptions);
  return text != nullptr ? text : cplus_demangle_v3(name, kOptions);
}

}  // namespace

bool looks_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("__Z") || name.starts_with("_R") ||
         name.starts_with("_D");
}

std::string demangle(std::string_view name) {
  if (!looks_mangled(name)) {
    return std::string(name);
  }
  const std::string_view inner = name.starts_with("__Z") ? name.substr(1) : name;
  const std::size_t version = std::min(inner.find('@'), inner.size());  // "@@GLIBCXX_3.4", "@plt"
  const std::string mangled(inner.substr(0, version));
  const std::unique_ptr<char, decltype(&std::free)> text(demangle_any(mangled.c_str()), &std::free);
  return text ? std::string(text.get()).append(inner.substr(version)) : std::string(name);
}

}  // namespace whocall
