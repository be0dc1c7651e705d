// Names as people write them.
#ifndef WHOCALL_DEMANGLED_HPP
#define WHOCALL_DEMANGLED_HPP

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

namespace whocall {

// What is no mangled name comes back as it is.
inline std::string demangled(const char* name) {
  int status = 0;
  std::string plain(name);
  plain.erase(std::min(plain.find('@'), plain.size()));  // the version of the symbol
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : plain;
}

}  // namespace whocall

#endif
