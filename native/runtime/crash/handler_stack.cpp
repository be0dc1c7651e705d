#include "runtime/crash/handler_stack.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace whocall::runtime {
namespace {

constexpr std::size_t kSize = std::size_t{64} << 10U;    // bytes
constexpr std::size_t kEnough = std::size_t{16} << 10U;  // bytes, of somebody else's, at least
constexpr unsigned long kFrameSize = 51;                 // AT_MINSIGSTKSZ of <elf.h>
constexpr std::size_t kGuard = std::size_t{64} << 10U;   // bytes: no machine has larger pages

// Past a function of that name that stands before the C library's.
int set_stack(const stack_t* wanted, stack_t* before) {
  return static_cast<int>(syscall(SYS_sigaltstack, wanted, before));
}

pthread_key_t key;
pthread_once_t once = PTHREAD_ONCE_INIT;
int key_error = 0;

void free_stack(void* memory) {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  stack_t current{};
  set_stack(nullptr, &current);
  if (current.ss_sp == static_cast<char*>(memory) + kGuard) {
    set_stack(&none, nullptr);
  }
  munmap(memory, kGuard + kSize);
}

// Where a report crashes itself there are two frames of signals; with the registers of AMX or SVE
// they are large.
bool is_enough(std::size_t size) {
  return size >= kEnough && size >= kEnough / 2 + 2 * getauxval(kFrameSize);
}

// With a guard below it; null, with errno, where there is no memory.
void* mapped_stack() {
  void* const memory = mmap(nullptr, kGuard + kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  if (mprotect(memory, kGuard, PROT_NONE) != 0) {
    const int error = errno;
    munmap(memory, kGuard + kSize);
    errno = error;
    return nullptr;
  }
  return memory;
}

void make_key() { key_error = pthread_key_create(&key, free_stack); }

}  // namespace

std::size_t room_of_handler() {
  constexpr std::size_t kPlenty = ~std::size_t{0};
  stack_t current{};
  if (set_stack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) != 0) {
    return kPlenty;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(&current);
  const auto begin = reinterpret_cast<std::uintptr_t>(current.ss_sp);
  if ((current.ss_flags & SS_ONSTACK) == 0) {
    // On one that is very small it is below that by now.
    return begin - here < kReportRoom ? 0 : kPlenty;
  }
  return here - begin;
}

int give_handler_stack() {
  pthread_once(&once, make_key);
  if (key_error != 0) {
    errno = key_error;
    return -1;
  }
  stack_t current{};
  if (set_stack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE) == 0 &&
      is_enough(current.ss_size)) {
    return 0;
  }
  void* const kept = pthread_getspecific(key);
  void* const memory = kept != nullptr ? kept : mapped_stack();
  if (memory == nullptr) {
    return -1;
  }
  stack_t own{};
  own.ss_sp = static_cast<char*>(memory) + kGuard;
  own.ss_size = kSize;
  if (set_stack(&own, nullptr) != 0) {
    const int error = errno;
    if (kept == nullptr) {
      munmap(memory, kGuard + kSize);
    }
    errno = error;
    return -1;
  }
  pthread_setspecific(key, memory);
  return 0;
}

}  // namespace whocall::runtime
