// What it costs to take down a stack of 20 frames' return addresses, by whocall and by its peers,
// in one process and in turns. A line for each: name, nanoseconds for a whole capture, frames
// found.
#include <execinfo.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "whocall.h"

#ifdef WITH_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif
#ifdef WITH_ABSEIL
#include "absl/debugging/stacktrace.h"
#endif
#ifdef WITH_BOOST
#include <boost/stacktrace/safe_dump_to.hpp>
#endif

namespace {

constexpr int kDepth = 17;  // main and the C library's two make 20
constexpr int kMost = 64;
constexpr int kRounds = 40;
constexpr int kCaptures = 2000;

void* addresses[kMost];

std::size_t by_whocall() { return whocall_capture(addresses, kMost); }

std::size_t by_backtrace() { return static_cast<std::size_t>(backtrace(addresses, kMost)); }

#ifdef WITH_LIBUNWIND
std::size_t by_libunwind() { return static_cast<std::size_t>(unw_backtrace(addresses, kMost)); }

std::size_t by_libunwind_steps() {
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  std::size_t found = 0;
  do {
    unw_word_t pc = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    addresses[found++] = reinterpret_cast<void*>(pc);
  } while (found < kMost && unw_step(&cursor) > 0);
  return found;
}
#endif
#ifdef WITH_ABSEIL
std::size_t by_abseil() {
  return static_cast<std::size_t>(absl::GetStackTrace(addresses, kMost, 0));
}
#endif
#ifdef WITH_BOOST
std::size_t by_boost() { return boost::stacktrace::safe_dump_to(addresses, sizeof addresses); }
#endif

#ifdef WITH_FRAME_POINTERS
// The least that such a walk can do: it ends where the chain stops to go up.
[[gnu::noinline]] std::size_t by_frame_pointers() {
  auto** frame = static_cast<void**>(__builtin_frame_address(0));
  std::size_t found = 0;
  while (frame != nullptr && found < kMost) {
    addresses[found++] = frame[1];
    auto** const next = static_cast<void**>(*frame);
    if (next <= frame || next > frame + 100000) {
      break;
    }
    frame = next;
  }
  return found;
}
#endif

struct Way {
  const char* name;
  std::size_t (*capture)();
  double least = 1e18;
  std::size_t frames = 0;
};

Way ways[] = {
    {"whocall", by_whocall},
    {"glibc backtrace()", by_backtrace},
#ifdef WITH_LIBUNWIND
    {"libunwind unw_backtrace", by_libunwind},
    {"libunwind unw_step", by_libunwind_steps},
#endif
#ifdef WITH_ABSEIL
    {"abseil GetStackTrace", by_abseil},
#endif
#ifdef WITH_BOOST
    {"boost stacktrace", by_boost},
#endif
#ifdef WITH_FRAME_POINTERS
    {"frame pointers, by hand", by_frame_pointers},
#endif
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void measure() {
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) {
      const double begin = now();
      for (int i = 0; i < kCaptures; ++i) {
        way.frames = way.capture();
      }
      way.least = std::min(way.least, (now() - begin) / kCaptures);
    }
  }
}

template <int kLevel>
[[gnu::noinline]] void descend() {
  volatile char locals[16 + 8 * (kLevel % 13)];
  locals[kLevel] = 1;
  if constexpr (kLevel == 0) {
    measure();
  } else {
    descend<kLevel - 1>();
  }
  locals[0] = 2;
}

}  // namespace

int main() {
  descend<kDepth - 1>();
  for (const Way& way : ways) {
    std::printf("%s\t%.0f\t%zu\n", way.name, way.least, way.frames);
  }
}
