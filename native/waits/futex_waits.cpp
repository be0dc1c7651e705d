#include "waits/futex_waits.h"

#include <linux/futex.h>

#include <algorithm>
#include <array>

namespace whocall {
namespace {

constexpr unsigned kLockPi2 = 13;  // FUTEX_LOCK_PI2, which older headers lack
constexpr std::uint32_t kContendedWord = 2;

std::optional<FutexWait> wait_of(const KernelCall& call) {
  const auto& given = call.arguments;
  if (!given[0] || !given[1] || !given[2]) {
    return std::nullopt;
  }
  FutexWait wait;
  wait.address = *given[0];
  wait.operation = static_cast<unsigned>(*given[1]) & static_cast<unsigned>(FUTEX_CMD_MASK);
  wait.is_private = (*given[1] & FUTEX_PRIVATE_FLAG) != 0;
  wait.expected = static_cast<std::uint32_t>(*given[2]);
  wait.timed = given[3].value_or(1) != 0;
  return wait;
}

bool is_plain(const FutexWait& wait) {
  return wait.operation == FUTEX_WAIT || wait.operation == FUTEX_WAIT_BITSET;
}
bool inherits(const FutexWait& wait) {
  return wait.operation == FUTEX_LOCK_PI || wait.operation == kLockPi2;
}

struct ToldCall {
  LockCall call;
  WaitKind kind;
  std::string_view type;
  std::string_view doubt;
};
constexpr std::string_view kRust = "Rust's locks keep no owner";
// Those that are told as they are: nothing in their memory says more.
constexpr std::array<ToldCall, 14> kToldCalls = {{
    {LockCall::semaphore, WaitKind::semaphore, "", "a semaphore has no owner"},
    {LockCall::barrier, WaitKind::barrier, "", ""},
    {LockCall::once, WaitKind::once, "", "who runs the initializer is not kept"},
    {LockCall::future, WaitKind::future, "", ""},
    {LockCall::rust_mutex, WaitKind::mutex, "Rust", kRust},
    {LockCall::rust_read, WaitKind::rwlock, "Rust", kRust},
    {LockCall::rust_write, WaitKind::rwlock, "Rust", kRust},
    {LockCall::rust_condition, WaitKind::condition, "Rust", ""},
    {LockCall::rust_park, WaitKind::signal, "Rust", ""},
    {LockCall::rust_once, WaitKind::once, "Rust", "who runs the initializer is not kept"},
    {LockCall::go_note, WaitKind::event, "Go", ""},
    {LockCall::go_lock, WaitKind::lock, "Go", "locks of Go's runtime keep no owner"},
    {LockCall::join, WaitKind::join, "", "no thread of the process has its record there"},
    {LockCall::condition, WaitKind::condition, "", ""},
}};

}  // namespace

void FutexWaits::tell(Waiting& waiting) {
  waiting.kind = WaitKind::futex;
  const auto wait = wait_of(*waiting.call);
  if (!wait) {
    return;
  }
  waiting.object = wait->address;
  waiting.timed = wait->timed;
  if (!is_plain(*wait) && !inherits(*wait) && wait->operation != FUTEX_WAIT_REQUEUE_PI) {
    waiting.kind = WaitKind::call;
    waiting.timed = false;
    return;
  }
  if (joins(*wait, waiting)) {
    return;
  }
  const WaitingFunction function = calls_.find(process_.threads[waiting.thread]);
  waiting.function = function.name;
  if (inherits(*wait) || function.call == LockCall::mutex) {
    tell_mutex(*wait, waiting);
  } else if (function.call == LockCall::condition) {
    tell_condition(*wait, waiting);
  } else if (function.call == LockCall::read_lock || function.call == LockCall::write_lock) {
    tell_rwlock(*wait, function.call == LockCall::write_lock, waiting);
  } else {
    tell_unnamed(*wait, function, waiting);
  }
}

// The address of a word that belongs to a thread says what is waited for: its end.
bool FutexWaits::joins(const FutexWait& wait, Waiting& waiting) const {
  const auto target = ids_.ending_at(wait.address);
  if (!target || !is_plain(wait) || *target == waiting.thread ||
      reader_.word(wait.address) != wait.expected) {
    return false;
  }
  const ThreadId& id = ids_[*target];
  constexpr std::uint32_t kExiting = 1;  // of musl's states
  const bool lives = id.library == CLibrary::glibc
                         ? wait.expected == static_cast<std::uint32_t>(id.tid)
                         : wait.expected > kExiting;
  if (!lives) {
    return false;
  }
  waiting.kind = WaitKind::join;
  waiting.object = id.descriptor;
  waiting.owner = target;
  waiting.owner_tid = id.tid;
  waiting.function = "pthread_join";
  return true;
}

// From 2.43 on glibc's pthread_join waits at a state that the other thread's record holds. The
// states are those of musl.
bool FutexWaits::joins_by_state(const FutexWait& wait, Waiting& waiting) const {
  constexpr std::uint32_t kJoinable = 2;
  const auto target = ids_.with_record_around(wait.address);
  if (!target || *target == waiting.thread || ids_[*target].library != CLibrary::glibc ||
      wait.expected != kJoinable || reader_.word(wait.address) != wait.expected) {
    return false;
  }
  waiting.kind = WaitKind::join;
  waiting.object = ids_[*target].descriptor;
  waiting.owner = target;
  waiting.owner_tid = ids_[*target].tid;
  return true;
}

void FutexWaits::take(const LockWords& words, WaitKind kind, Waiting& waiting) const {
  waiting.kind = kind;
  waiting.object = words.address ? words.address : waiting.object;
  waiting.type = words.type;
  waiting.readers = words.readers;
  waiting.owner_tid = words.owner;
  waiting.doubt = words.doubt;
  if (!words.owner) {
    return;
  }
  const auto owner = ids_.with_tid(*words.owner);
  const bool is_listed = owner && words.link && ids_.has_in_list(*owner, *words.link);
  if (words.shared && !is_listed) {
    waiting.doubt = "it is shared between processes, whose ids may be others";
  } else if (!owner) {
    waiting.doubt = "no thread with that id is there";
  } else if (words.held) {
    waiting.owner = owner;
  }
}

void FutexWaits::tell_mutex(const FutexWait& wait, Waiting& waiting) const {
  if (!inherits(wait) && wait.expected == 0) {
    // glibc lets a thread sleep for good at a word of its own where the kernel refuses to wait.
    waiting.kind = WaitKind::mutex;
    waiting.type = "priority-inheriting";
    waiting.object.reset();
    waiting.doubt =
        "the kernel refused to wait for it: the owner has ended, or waits for this thread";
    return;
  }
  LockWords words;
  if (ids_.has(CLibrary::musl)) {
    words = reader_.musl_mutex(wait);
  } else if (!inherits(wait) || !waiting.function.empty()) {
    words = reader_.glibc_mutex(wait);
  }
  if (!words.address && inherits(wait)) {
    words = reader_.inheriting(wait);
  }
  take(words, WaitKind::mutex, waiting);
}

// Whoever was woken waits for the mutex; the word of the condition itself never is 2 with
// FUTEX_WAIT in glibc.
void FutexWaits::tell_condition(const FutexWait& wait, Waiting& waiting) const {
  const bool maybe_mutex =
      inherits(wait) || (wait.operation == FUTEX_WAIT && wait.expected == kContendedWord &&
                         ids_.has(CLibrary::glibc));
  if (maybe_mutex) {
    const LockWords words = reader_.glibc_mutex(wait);
    if (words.address) {
      take(words, WaitKind::mutex, waiting);
      return;
    }
  }
  waiting.kind = WaitKind::condition;
}

void FutexWaits::tell_rwlock(const FutexWait& wait, bool writes, Waiting& waiting) const {
  waiting.writes = writes;
  if (ids_.has(CLibrary::musl)) {
    waiting.kind = WaitKind::rwlock;
    waiting.doubt = "musl keeps no owner of such a lock";
    return;
  }
  take(reader_.glibc_rwlock(wait, writes), WaitKind::rwlock, waiting);
}

// In a program without names, a word and what stands around it are a mutex of glibc's where its
// owner is a thread whose record proves that glibc made it, and the code that calls the kernel is
// for waits at futexes alone, as glibc's is and that of locks by way of syscall() is not.
bool FutexWaits::is_glibc_mutex_by_itself(const FutexWait& wait, const KernelCall& call) const {
  if (!is_plain(wait) || !ids_.has(CLibrary::glibc) || !call.is_inline) {
    return false;
  }
  const LockWords words = reader_.glibc_mutex(wait);
  const auto owner = words.owner ? ids_.with_tid(*words.owner) : std::nullopt;
  return words.address && words.held && owner && ids_[*owner].library == CLibrary::glibc;
}

void FutexWaits::tell_unnamed(const FutexWait& wait, const WaitingFunction& function,
                              Waiting& waiting) const {
  if (function.call == LockCall::join && joins_by_state(wait, waiting)) {
    return;
  }
  const auto* const told = std::ranges::find_if(
      kToldCalls, [&](const ToldCall& row) { return row.call == function.call; });
  if (told != kToldCalls.end()) {
    waiting.kind = told->kind;
    waiting.type = told->type;
    waiting.doubt = told->doubt;
    waiting.writes = function.call == LockCall::rust_write;
    return;
  }
  if (function.by_syscall) {
    return;  // not of the C library
  }
  if (const auto record = reader_.stdio_owner(wait); record && is_plain(wait)) {
    if (const auto owner = ids_.at_descriptor(*record)) {
      waiting.kind = WaitKind::lock;
      waiting.type = "stdio";
      waiting.owner = owner;
      waiting.owner_tid = ids_[*owner].tid;
      return;
    }
  }
  if (is_glibc_mutex_by_itself(wait, *waiting.call)) {
    tell_mutex(wait, waiting);
  }
}

}  // namespace whocall
