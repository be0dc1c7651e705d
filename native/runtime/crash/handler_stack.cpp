#include "runtime/crash/handler_stack.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
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

pthread_key_t key;
pthread_once_t once = PTHREAD_ONCE_INIT;
int key_error = 0;

void free_stack(void* memory) {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  stack_t current{};
  sigaltstack(nullptr, &current);
  if (current.ss_sp == static_cast<char*>(memory) + kGuard) {
    sigaltstack(&none, nullptr);
  }
  munmap(memory, kGuard + kSize);
}

// Where a report crashes itself there are two frames of signals; with the registers of AMX or SVE
// they are large.
bool is_enough(std::size_t size) {
  return size >= kEnough && size >= kEnough / 2 + 2 * getauxval(kFrameSize);
}

void make_key() { key_error = pthread_key_create(&key, free_stack); }

}  // namespace

std::size_t room_of_handler() {
  constexpr std::size_t kPlenty = ~std::size_t{0};
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) != 0) {
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
  if (sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE) == 0 &&
      is_enough(current.ss_size)) {
    return 0;
  }
  void* const memory = mmap(nullptr, kGuard + kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return -1;
  }
  stack_t own{};
  own.ss_sp = static_cast<char*>(memory) + kGuard;
  own.ss_size = kSize;
  if (mprotect(memory, kGuard, PROT_NONE) != 0 || sigaltstack(&own, nullptr) != 0) {
    const int kept = errno;
    munmap(memory, kGuard + kSize);
    errno = kept;
    return -1;
  }
  pthread_setspecific(key, memory);
  return 0;
}

}  // namespace whocall::runtime
