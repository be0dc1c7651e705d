// Exceptions that leave functions: GCC calls their hooks, clang does not.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "runtime/trace/whocall_trace.h"

#define PLAIN __attribute__((no_instrument_function, noinline))
#define KEEP __attribute__((noinline))

namespace app {

struct Guard {
  KEEP Guard() { asm volatile(""); }
  KEEP ~Guard() { asm volatile(""); }
};

PLAIN std::size_t depth() {
  whocall_trace_call calls[64];
  return whocall_trace_stack(calls, 64);
}

KEEP void thrower(int levels) {
  const Guard guard;
  if (levels == 0) {
    throw std::runtime_error("out of here");
  }
  thrower(levels - 1);
  asm volatile("");
}

KEEP void after(std::size_t wanted) {
  std::printf("%s: %zu activations\n", depth() == wanted ? "ok" : "WRONG", depth());
}

KEEP bool catcher(std::size_t wanted) {
  try {
    thrower(6);
  } catch (const std::exception&) {
    after(wanted + 2);
  }
  after(wanted + 2);
  return true;
}

template <typename Number>
KEEP Number ending(Number value) {
  asm volatile("");
  if (value > 0) {
    std::abort();
  }
  return value;
}

}  // namespace app

int main() {
  const std::size_t wanted = app::depth();
  app::catcher(wanted);
  app::after(wanted + 1);
  std::fflush(stdout);
  return static_cast<int>(app::ending<double>(1));
}
