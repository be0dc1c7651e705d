// libwhocall-crash.so: the crash handler in programs that know nothing of it, by LD_PRELOAD.
//
//   WHOCALL_CRASH_TEXT     a file for the report's text; "%p" stands for the process (default:
//                          standard error)
//   WHOCALL_CRASH_RECORD   a file for the record
//   WHOCALL_CRASH_RING     a file with a ring of records; WHOCALL_CRASH_RING_SIZE bytes (65536)
//   WHOCALL_CRASH_THREADS  "all": other threads tell their stacks too
//   WHOCALL_CRASH_QUESTION "USR1": each such signal makes a report, and the program goes on
//   WHOCALL_CRASH_RECEIVER the socket of `whocall receive`, which makes the report instead
//   WHOCALL_CRASH_HANDLERS "report-first": the report is made before the program's own handlers are
//                          called; "leave": one that the program sets takes our place
#include <dlfcn.h>
#include <pthread.h>
#include <sys/un.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#include <cerrno>
#include <cstring>

#include "runtime/crash/handler_stack.h"
#include "runtime/preload/signals.h"
#include "runtime/privilege.h"
#include "runtime/signal_setting.h"
#include "runtime/whocall.h"

namespace {

constexpr std::size_t kUsualRing = 65536;  // bytes
constexpr std::size_t kLeastRing = 4096;   // bytes: a slot
constexpr int kNoMemory = 3;               // thrd_nomem of C libraries for Linux

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

using CreateC11 = int (*)(void*, int (*)(void*), void*);

template <typename Result>
struct Begin {
  Result (*function)(void*);
  void* argument;
};

std::size_t ring_size() {
  const char* const text = whocall_setting("WHOCALL_CRASH_RING_SIZE");
  if (text == nullptr) {
    return kUsualRing;
  }
  char* end = nullptr;
  const std::size_t size = strtoul(text, &end, 0);
  if (*end == '\0' && size >= kLeastRing) {
    return size;
  }
  dprintf(
      STDERR_FILENO,
      "libwhocall-crash: WHOCALL_CRASH_RING_SIZE=%s is no number of bytes from %zu on; the ring "
      "has %zu\n",
      text, kLeastRing, kUsualRing);
  return kUsualRing;
}

// A copy: programs write the title that `ps` shows over their environment.
const char* kept_setting(const char* name) {
  const char* const value = whocall_setting(name);
  return value == nullptr ? nullptr : strdup(value);
}

// Whether the variable has one of the two values that it knows; a sentence where it has another.
bool is_chosen(const char* name, const char* value, const char* other) {
  const char* const text = whocall_setting(name);
  if (text == nullptr || std::strcmp(text, value) == 0) {
    return text != nullptr;
  }
  if (other == nullptr) {
    dprintf(STDERR_FILENO, "libwhocall-crash: %s=%s: \"%s\" is all it knows\n", name, text, value);
  } else if (std::strcmp(text, other) != 0) {
    dprintf(STDERR_FILENO, "libwhocall-crash: %s=%s: it knows \"%s\" and \"%s\"\n", name, text,
            value, other);
  }
  return false;
}

// 0, and a sentence, where there is no such signal or the program has it already.
int question_signal() {
  const char* const text = whocall_setting("WHOCALL_CRASH_QUESTION");
  if (text == nullptr) {
    return 0;
  }
  const int signal = whocall_signal_named(text);
  const char* const refused = whocall_signal_refused(signal);
  if (refused != nullptr) {
    dprintf(STDERR_FILENO, "libwhocall-crash: WHOCALL_CRASH_QUESTION=%s %s\n", text, refused);
    return 0;
  }
  return signal;
}

// Null, and a sentence, where the path is too long for a socket's.
const char* receiver() {
  const char* const path = kept_setting("WHOCALL_CRASH_RECEIVER");
  if (path == nullptr || std::strlen(path) < sizeof(sockaddr_un{}.sun_path)) {
    return path;
  }
  dprintf(
      STDERR_FILENO,
      "libwhocall-crash: WHOCALL_CRASH_RECEIVER=%s: %s; this process makes its reports itself\n",
      path, strerror(ENAMETOOLONG));
  return nullptr;
}

bool leaves_handlers() {
  const char* const text = whocall_setting("WHOCALL_CRASH_HANDLERS");
  return text != nullptr && std::strcmp(text, "leave") == 0;
}

[[gnu::constructor]] void install() {
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  options.text_path = kept_setting("WHOCALL_CRASH_TEXT");
  options.record_path = kept_setting("WHOCALL_CRASH_RECORD");
  options.ring_path = kept_setting("WHOCALL_CRASH_RING");
  options.ring_size = ring_size();
  options.all_threads = is_chosen("WHOCALL_CRASH_THREADS", "all", nullptr) ? 1 : 0;
  options.before_handlers = is_chosen("WHOCALL_CRASH_HANDLERS", "report-first", "leave") ? 1 : 0;
  options.question_signal = question_signal();
  options.receiver = receiver();
  use_real_sigaction();
  if (!leaves_handlers()) {
    stand_before_sigaction();
  }
  if (whocall_install(&options) == 0) {
    return;
  }
  dprintf(STDERR_FILENO, "libwhocall-crash: WHOCALL_CRASH_RING=%s: %s; there is no ring\n",
          options.ring_path == nullptr ? "" : options.ring_path, strerror(errno));
  options.ring_path = nullptr;
  if (whocall_install(&options) != 0) {
    dprintf(STDERR_FILENO, "libwhocall-crash: %s; no crash is reported\n", strerror(errno));
  }
}

// Runs in the new thread.
template <typename Result>
Result begin_thread(void* memory) {
  const auto begin = *static_cast<Begin<Result>*>(memory);
  free(memory);
  whocall_install_thread();
  return begin.function(begin.argument);
}

// Null where there is no memory.
template <typename Result>
Begin<Result>* note_begin(Result (*function)(void*), void* argument) {
  auto* const begin = static_cast<Begin<Result>*>(malloc(sizeof(Begin<Result>)));
  if (begin != nullptr) {
    *begin = {function, argument};
  }
  return begin;
}

}  // namespace

// Every thread gets a stack for handlers before its function begins.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): names of our own
extern "C" WHOCALL_API int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                          void* (*function)(void*), void* argument) {
  static const auto kCreate = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  auto* const begin = note_begin(function, argument);
  if (begin == nullptr) {
    return EAGAIN;
  }
  const int error = kCreate(thread, attributes, begin_thread<void*>, begin);
  if (error != 0) {
    free(begin);
  }
  return error;
}

// That of C11, whose header older C libraries do not have.
extern "C" WHOCALL_API int thrd_create(void* thread, int (*function)(void*), void* argument) {
  static const auto kCreate = reinterpret_cast<CreateC11>(dlsym(RTLD_NEXT, "thrd_create"));
  auto* const begin = note_begin(function, argument);
  if (begin == nullptr) {
    return kNoMemory;
  }
  const int error = kCreate(thread, begin_thread<int>, begin);
  if (error != 0) {
    free(begin);
  }
  return error;
}
