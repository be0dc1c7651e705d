#include "runtime/crash/handled.h"

#include <atomic>

#include "runtime/crash/signals.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kMostHandled = 32;  // crashes that are handled at one time
constexpr int kDeepest = 100'000;         // as deep as a stack for handlers and more

struct Handled {
  std::atomic<pid_t> thread{0};
  Crash crash;
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;
  bool returned = false;
};

Handled handled[kMostHandled];
std::atomic<std::size_t> notes_made{0};

bool is_same_place(const Handled& note, const ucontext_t& context) {
  const Point point = point_of(context);
  return note.pc == point.pc && note.sp == point.sp;
}

const Handled* find_note(pid_t thread, const void* context) {
  for (const Handled& each : handled) {
    if (each.thread.load() == thread && each.crash.context == context && !each.returned &&
        is_same_place(each, *each.crash.context)) {
      return &each;
    }
  }
  return nullptr;
}

// Where a handler cannot be walked through: what was saved for it lies further up the stack for
// handlers that the thread is on, and there is nothing but what goes on.
const Handled* find_above(pid_t thread) {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_ONSTACK) == 0) {
    return nullptr;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(&current);
  const auto end = reinterpret_cast<std::uintptr_t>(current.ss_sp) + current.ss_size;
  const Handled* found = nullptr;
  for (const Handled& each : handled) {
    const auto at = reinterpret_cast<std::uintptr_t>(each.crash.context);
    if (at > begin && at < end && find_note(thread, each.crash.context) == &each) {
      found = &each;
    }
  }
  return found;
}

}  // namespace

std::size_t note_handling(const Crash& crash) {
  const std::size_t number = notes_made.fetch_add(1) % kMostHandled;
  Handled& note = handled[number];
  note.thread.store(0);
  const Point point = point_of(*crash.context);
  note.crash = crash;
  note.pc = point.pc;
  note.sp = point.sp;
  note.returned = false;
  note.thread.store(crash.thread);
  return number;
}

void end_of_handling(std::size_t note, const Crash& crash) {
  Handled& own = handled[note];
  if (own.thread.load() == crash.thread && own.crash.context == crash.context) {
    own.returned = true;
  }
}

bool may_be_handling(pid_t thread) {
  for (const Handled& each : handled) {
    if (each.thread.load() == thread && !each.returned) {
      return true;
    }
  }
  return false;
}

bool find_handled(pid_t thread, CarefulWalk& walk, Crash& crash) {
  if (!may_be_handling(thread)) {
    return false;
  }
  const Handled* found = nullptr;
  const void* last = nullptr;
  for (int i = 0; i < kDeepest && walk.next(); ++i) {
    if (walk.context() != last) {
      last = walk.context();
      const Handled* const note = find_note(thread, last);
      found = note != nullptr ? note : found;
    }
  }
  if (found == nullptr && walk.end() != WalkEnd::outermost) {
    found = find_above(thread);
  }
  if (found == nullptr) {
    return false;
  }
  crash = found->crash;
  return true;
}

void recall(Crash& crash) {
  for (const Handled& each : handled) {
    if (was_sent(crash.info.si_code) && crash.info.si_pid == crash.process &&
        each.thread.load() == crash.thread && each.returned && each.crash.signal == crash.signal &&
        is_same_place(each, *crash.context)) {
      crash.info = each.crash.info;
      return;
    }
  }
}

}  // namespace whocall::runtime
