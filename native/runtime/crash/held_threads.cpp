#include "runtime/crash/held_threads.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

namespace whocall::runtime {
namespace {

enum Bell : int { quiet = 0, rung = 1, free_to_go = 2 };

// On the stack of the handler that its thread stays in.
struct Held {
  pid_t thread = 0;
  std::atomic<int> bell{quiet};
  Held* next = nullptr;
};

std::atomic<bool> holding{false};
std::atomic<Held*> held{nullptr};
std::atomic<bool> any_held{false};

void wait_for(std::atomic<int>& bell) {
  syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, quiet, nullptr);
}

void wake(const std::atomic<int>& bell) { syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, INT_MAX); }

// Whoever takes the list has all of it for himself. One that may go may be gone at once.
void let_listed_go() {
  for (Held* each = held.exchange(nullptr); each != nullptr;) {
    Held* const next = each->next;
    each->bell.store(free_to_go);
    wake(each->bell);
    each = next;
  }
}

}  // namespace

void begin_holding() { holding.store(true); }

void stay(pid_t thread, void (*answer)(void* data), void* data) {
  if (!holding.load()) {
    return;
  }
  any_held.store(true);
  Held self;
  self.thread = thread;
  self.next = held.load();
  while (!held.compare_exchange_weak(self.next, &self)) {
  }
  // The others may have been let go before this one was among them.
  if (!holding.load()) {
    let_listed_go();
  }
  for (int bell = quiet; bell != free_to_go; bell = self.bell.load()) {
    if (bell == rung && self.bell.compare_exchange_strong(bell, quiet)) {
      answer(data);
    } else {
      wait_for(self.bell);
    }
  }
}

bool ring(pid_t thread) {
  for (Held* each = held.load(); each != nullptr; each = each->next) {
    if (each->thread == thread) {
      int bell = quiet;
      each->bell.compare_exchange_strong(bell, rung);
      wake(each->bell);
      return true;
    }
  }
  return false;
}

void let_go() {
  holding.store(false);
  let_listed_go();
}

bool is_holding() { return holding.load(); }

bool was_anyone_held() { return any_held.load(); }

}  // namespace whocall::runtime
