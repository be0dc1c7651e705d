// libwhocall-crash.so: the crash handler in programs that know nothing of it, by LD_PRELOAD.
//
//   WHOCALL_CRASH_TEXT     a file for the report's text; "%p" stands for the process (default:
//                          standard error)
//   WHOCALL_CRASH_RECORD   a file for the record
//   WHOCALL_CRASH_RING     a file with a ring of records; WHOCALL_CRASH_RING_SIZE bytes (65536)
//   WHOCALL_CRASH_THREADS  "all": other threads tell their stacks too
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <cstdlib>

#include <cerrno>
#include <cstring>

#include "runtime/crash/handler_stack.h"
#include "runtime/whocall.h"

namespace {

constexpr std::size_t kUsualRing = 65536;  // bytes

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

struct Begin {
  void* (*function)(void*);
  void* argument;
};

// The variable's value; null where it is not set, or empty.
const char* setting(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

[[gnu::constructor]] void install() {
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  options.text_path = setting("WHOCALL_CRASH_TEXT");
  options.record_path = setting("WHOCALL_CRASH_RECORD");
  options.ring_path = setting("WHOCALL_CRASH_RING");
  const char* const size = setting("WHOCALL_CRASH_RING_SIZE");
  options.ring_size = size == nullptr ? kUsualRing : strtoul(size, nullptr, 0);
  const char* const threads = setting("WHOCALL_CRASH_THREADS");
  options.all_threads = threads != nullptr && std::strcmp(threads, "all") == 0 ? 1 : 0;
  whocall_install(&options);
}

// Runs in the new thread.
void* begin_thread(void* memory) {
  const Begin begin = *static_cast<Begin*>(memory);
  free(memory);
  whocall_install_thread();
  return begin.function(begin.argument);
}

}  // namespace

// Every thread gets a stack for handlers before its function begins.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): names of our own
extern "C" WHOCALL_API int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                          void* (*function)(void*), void* argument) {
  static const auto kCreate = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  auto* const begin = static_cast<Begin*>(malloc(sizeof(Begin)));
  if (begin == nullptr) {
    return EAGAIN;
  }
  *begin = {function, argument};
  const int error = kCreate(thread, attributes, begin_thread, begin);
  if (error != 0) {
    free(begin);
  }
  return error;
}
