#include "runtime/crash/annotations.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "runtime/whocall.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kMostAnnotations = 16;
constexpr std::size_t kKeyRoom = 32;     // bytes, with the zero
constexpr std::size_t kValueRoom = 128;  // the same

// A crash may come while a value is written: the other one counts until it is whole.
struct Annotation {
  char key[kKeyRoom];
  char values[2][kValueRoom];
  std::atomic<unsigned> current;  // index of the value that counts
  std::atomic<bool> is_set;
};

Annotation annotations[kMostAnnotations];
std::atomic<std::size_t> keys_set{0};  // that have keys; they keep them
std::atomic<pid_t> writer{0};          // the thread that changes them

constexpr int kMostTurns = 1000;  // turns of the scheduler

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < ' ' || byte == 0x7f;
}

// A signal's handler that came while its own thread is in here waits for nobody. What a fork has
// copied of another thread's turn ends with that: the thread is none of this process.
bool become_writer() {
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  for (int i = 0; i < kMostTurns; ++i) {
    pid_t known = 0;
    if (writer.compare_exchange_strong(known, self, std::memory_order_acquire)) {
      return true;
    }
    if (known == self) {
      return false;
    }
    const bool is_gone = syscall(SYS_tgkill, getpid(), known, 0) != 0 && errno == ESRCH;
    if (is_gone && writer.compare_exchange_strong(known, self, std::memory_order_acquire)) {
      return true;
    }
    sched_yield();
  }
  return false;
}

// At most `room`, with the zero; a letter of several bytes is not cut.
void copy_shown(char* to, const char* text, std::size_t room) {
  std::size_t size = strnlen(text, room);
  if (size == room) {
    --size;
    while (size != 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80) {
      --size;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = is_control(text[i]) ? '?' : text[i];
  }
  to[size] = '\0';
}

// Of one that is there, or of a new one where `may_add`; null: neither.
Annotation* find_annotation(const char* key, bool may_add) {
  const std::size_t known = keys_set.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < known; ++i) {
    if (std::strcmp(annotations[i].key, key) == 0) {
      return &annotations[i];
    }
  }
  if (!may_add || known == kMostAnnotations) {
    return nullptr;
  }
  std::strcpy(annotations[known].key, key);
  keys_set.store(known + 1, std::memory_order_release);
  return &annotations[known];
}

int annotate(const char* key, const char* value) {
  if (std::strlen(key) >= kKeyRoom || *key == '\0') {
    return EINVAL;
  }
  for (const char* at = key; *at != '\0'; ++at) {
    if (is_control(*at) || *at == '=') {
      return EINVAL;
    }
  }
  Annotation* const found = find_annotation(key, value != nullptr);
  if (found == nullptr) {
    return value != nullptr ? ENOSPC : 0;
  }
  if (value == nullptr) {
    found->is_set.store(false);
    return 0;
  }
  const unsigned next = 1 - found->current.load(std::memory_order_relaxed);
  copy_shown(found->values[next], value, kValueRoom);
  found->current.store(next, std::memory_order_release);
  found->is_set.store(true, std::memory_order_release);
  return 0;
}

}  // namespace

void for_each_annotation(void (*tell)(const char*, const char*, void*), void* to) {
  const std::size_t known = keys_set.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < known; ++i) {
    const Annotation& each = annotations[i];
    if (each.is_set.load(std::memory_order_acquire)) {
      tell(each.key, each.values[each.current.load(std::memory_order_acquire)], to);
    }
  }
}

}  // namespace whocall::runtime

int whocall_annotate(const char* key, const char* value) {
  const int kept = errno;
  int error = EAGAIN;
  if (whocall::runtime::become_writer()) {
    error = whocall::runtime::annotate(key, value);
    whocall::runtime::writer.store(0, std::memory_order_release);
  }
  if (error != 0) {
    errno = error;
    return -1;
  }
  errno = kept;
  return 0;
}
