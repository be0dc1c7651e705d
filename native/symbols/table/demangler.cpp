#include "symbols/table/demangler.h"

// Or its libiberty.h declares basename() in a way of its own.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/own_stack.h"
#include "symbols/table/mangled_size.h"

namespace whocall {
namespace {

constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI;  // no implementation details (a Rust hash)

// What libiberty has written so far, in pieces.
struct Written {
  std::jmp_buf enough;
  std::string text;
};

// Nobody stops libiberty but by leaving it: it keeps nothing in the heap while it writes.
void write_piece(const char* piece, std::size_t size, void* opaque) {
  auto& written = *static_cast<Written*>(opaque);
  if (size > kLongestDemangled - written.text.size()) {
    std::longjmp(written.enough, 1);  // NOLINT(cert-err52-cpp): through C
  }
  written.text.append(piece, size);
}

using Demangle = int (*)(const char*, int, demangle_callbackref, void*);

// Whether the scheme knew the name, all of which has been written.
bool write_by(Demangle scheme, const char* name, Written& written) {
  written.text.clear();
  // NOLINTNEXTLINE(cert-err52-cpp): nothing in between has a destructor
  return setjmp(written.enough) == 0 && scheme(name, kOptions, &write_piece, &written) != 0;
}

// Each scheme's own function, not cplus_demangle(): that one hangs on a global style. Rust goes
// first, because names of its older scheme are C++ names with a hash behind them. Neither goes
// deeper than libiberty's DEMANGLE_RECURSION_LIMIT.
std::optional<std::string> demangle_in_pieces(const char* name) {
  const auto written = std::make_unique<Written>();
  if (write_by(&rust_demangle_callback, name, *written) ||
      write_by(&cplus_demangle_v3_callback, name, *written)) {
    return std::move(written->text);
  }
  return std::nullopt;
}

// The demangler of D goes as deep as the name says and takes what memory it needs.
std::optional<std::string> demangle_d(const std::string& name) {
  constexpr std::size_t kShort = 1024;        // bytes
  constexpr std::size_t kStackOfEach = 1024;  // bytes of stack, with room
  constexpr std::size_t kLeastStack = std::size_t{256} << 10U;
  std::unique_ptr<char, decltype(&std::free)> text(nullptr, &std::free);
  const auto work = [&] { text.reset(dlang_demangle(name.c_str(), kOptions)); };
  if (name.size() <= kShort) {
    work();
  } else {
    on_own_stack(kLeastStack + name.size() * kStackOfEach, work);
  }
  return text && std::strlen(text.get()) <= kLongestDemangled
             ? std::optional<std::string>(text.get())
             : std::nullopt;
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
  if (mangled.size() > kLongestMangled || has_endless_work(mangled)) {
    return std::string(name);
  }
  const auto text = mangled[1] == 'D' ? demangle_d(mangled) : demangle_in_pieces(mangled.c_str());
  return text ? std::string(*text).append(inner.substr(version)) : std::string(name);
}

}  // namespace whocall
