// Names as people write them.
#ifndef WHOCALL_DEMANGLED_HPP
#define WHOCALL_DEMANGLED_HPP

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

namespace whocall {

namespace detail {

inline std::string spelled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

}  // namespace detail

// Of a function; what is no mangled name comes back as it is, without the version of the symbol.
inline std::string demangled(const char* name) {
  std::string plain(name);
  plain.erase(std::min(plain.find('@'), plain.size()));
  // Types are mangled without a prefix, so that `f` would be `float`.
  return plain.compare(0, 2, "_Z") == 0 ? detail::spelled(plain) : plain;
}

}  // namespace whocall

#endif
