#include "waits/lock_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/interrupt.h"
#include "unwind/code/call_site.h"

namespace whocall {
namespace {

constexpr std::size_t kMostFrames = 8;  // between the kernel and the function that is looked for

struct NamedCall {
  std::string_view name;
  LockCall call;
};

// Names of exports and of the functions behind them, as plain_name() leaves them.
constexpr std::array<NamedCall, 45> kNamedCalls = {{
    {"pthread_mutex_lock", LockCall::mutex},
    {"pthread_mutex_lock_full", LockCall::mutex},
    {"pthread_mutex_timedlock", LockCall::mutex},
    {"pthread_mutex_clocklock", LockCall::mutex},
    {"pthread_mutex_clocklock_common", LockCall::mutex},
    {"pthread_mutex_timedlock_pi", LockCall::mutex},
    {"pthread_mutex_cond_lock", LockCall::mutex},
    {"pthread_mutex_cond_lock_full", LockCall::mutex},
    {"mtx_lock", LockCall::mutex},
    {"mtx_timedlock", LockCall::mutex},
    {"pthread_rwlock_rdlock", LockCall::read_lock},
    {"pthread_rwlock_timedrdlock", LockCall::read_lock},
    {"pthread_rwlock_clockrdlock", LockCall::read_lock},
    {"pthread_rwlock_rdlock_full", LockCall::read_lock},
    {"pthread_rwlock_wrlock", LockCall::write_lock},
    {"pthread_rwlock_timedwrlock", LockCall::write_lock},
    {"pthread_rwlock_clockwrlock", LockCall::write_lock},
    {"pthread_rwlock_wrlock_full", LockCall::write_lock},
    {"pthread_cond_wait", LockCall::condition},
    {"pthread_cond_timedwait", LockCall::condition},
    {"pthread_cond_clockwait", LockCall::condition},
    {"pthread_cond_wait_common", LockCall::condition},
    {"cnd_wait", LockCall::condition},
    {"cnd_timedwait", LockCall::condition},
    {"sem_wait", LockCall::semaphore},
    {"sem_timedwait", LockCall::semaphore},
    {"sem_clockwait", LockCall::semaphore},
    {"new_sem_wait", LockCall::semaphore},
    {"new_sem_wait_slow", LockCall::semaphore},
    {"new_sem_wait_fast", LockCall::semaphore},
    {"pthread_join", LockCall::join},
    {"pthread_timedjoin_np", LockCall::join},
    {"pthread_clockjoin_np", LockCall::join},
    {"pthread_clockjoin_ex", LockCall::join},
    {"pthread_tryjoin_np", LockCall::join},
    {"thrd_join", LockCall::join},
    {"pthread_barrier_wait", LockCall::barrier},
    {"pthread_once", LockCall::once},
    {"pthread_once_full", LockCall::once},
    {"pthread_once_slow", LockCall::once},
    {"call_once", LockCall::once},
    {"runtime.notesleep", LockCall::go_note},
    {"runtime.notetsleep_internal", LockCall::go_note},
    {"runtime.lock2", LockCall::go_lock},
    {"runtime.semasleep", LockCall::go_note},
}};

// Parts of demangled names: libstdc++'s export, and Rust's standard library of several years.
constexpr std::array<NamedCall, 15> kPartsOfNames = {{
    {"__atomic_futex_unsigned_base::_M_futex_wait_until", LockCall::future},
    {"futex::Mutex::lock_contended", LockCall::rust_mutex},
    {"futex_mutex::Mutex::lock_contended", LockCall::rust_mutex},
    {"futex::RwLock::read_contended", LockCall::rust_read},
    {"futex_rwlock::RwLock::read_contended", LockCall::rust_read},
    {"futex::RwLock::write_contended", LockCall::rust_write},
    {"futex_rwlock::RwLock::write_contended", LockCall::rust_write},
    {"futex::Condvar::wait", LockCall::rust_condition},
    {"futex_condvar::Condvar::wait", LockCall::rust_condition},
    {"futex::Parker::park", LockCall::rust_park},
    {"thread_parker::futex::Parker", LockCall::rust_park},
    {"std::thread::park", LockCall::rust_park},
    {"std::thread::functions::park", LockCall::rust_park},
    {"once::futex::Once::call", LockCall::rust_once},
    {"futex::Once::wait", LockCall::rust_once},
}};

// Between those and the kernel, where symbols of the C library tell them.
constexpr std::array<std::string_view, 8> kHelpers = {
    "futex", "lll_", "syscall", "timedwait", "do_sleep", "vsyscall", "libc_", "sem_"};

std::string_view without_ends(std::string_view name) {
  // What gcc calls its own versions of a function: "pthread_once_slow.isra.0".
  for (const std::string_view version : {".isra.", ".constprop.", ".part."}) {
    name = name.substr(0, name.find(version));
  }
  for (const std::string_view end : {"64", "_time64"}) {
    if (name.ends_with(end)) {
      name.remove_suffix(end.size());
    }
  }
  return name;
}

// "pthread_mutex_lock" of "__GI___pthread_mutex_lock@@GLIBC_2.2.5".
std::string_view plain_name(std::string_view name) {
  name = without_ends(name.substr(0, name.find_first_of("@(")));
  const auto strip = [&] {
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  };
  strip();
  if (name.starts_with("GI_")) {
    name.remove_prefix(3);
    strip();
  }
  return name;
}

LockCall call_named(std::string_view name) {
  const std::string_view plain = plain_name(name);
  const auto* const found =
      std::ranges::find_if(kNamedCalls, [&](const NamedCall& row) { return row.name == plain; });
  if (found != kNamedCalls.end()) {
    return found->call;
  }
  // Rust's mangling of today has "<std::...::Mutex>::lock_contended".
  std::string bare(name);
  std::erase_if(bare, [](char each) { return each == '<' || each == '>'; });
  const auto* const part = std::ranges::find_if(kPartsOfNames, [&](const NamedCall& row) {
    return bare.find(row.name) != std::string::npos;
  });
  return part != kPartsOfNames.end() ? part->call : LockCall::none;
}

bool is_helper(std::string_view name) {
  const std::string_view plain = plain_name(name);
  return std::ranges::any_of(
      kHelpers, [&](std::string_view word) { return plain.find(word) != std::string_view::npos; });
}

// Names that were written down as names, and not concluded.
bool is_told(const Place& place) {
  return place.function && !place.function->raw_name.empty() &&
         !is_inferred(place.function->source);
}

}  // namespace

const Place& LockCalls::place(const Frame& frame) {
  return symbolizer_.describe(frame.lookup_pc(), {.demangle = true, .lines = false});
}

// Of the function to which the call leads that returns to the frame; empty where that is not told.
std::string LockCalls::called_name(const Frame& caller) {
  if (caller.interrupted || caller.trust == Trust::scan) {
    return {};
  }
  const ProcessImage& process = walker_.process();
  const auto call = call_before(process, caller.pc);
  if (!call) {
    return {};
  }
  std::optional<Address> target = call->target;
  if (!target && call->slot) {
    target = process.code_pointer_at(*call->slot);
  }
  if (!target) {
    return {};
  }
  const Place& callee = symbolizer_.describe(*target, {.demangle = true, .lines = false});
  const bool begins = is_told(callee) && callee.function->start == callee.link_address;
  return begins ? callee.function->name : std::string();
}

WaitingFunction LockCalls::find(const Thread& thread) {
  WalkOptions options;
  options.max_frames = kMostFrames + 1;
  options.check_interrupt = &check_interrupt;
  const Backtrace trace = walker_.walk(thread, options);
  WaitingFunction found;
  const Module* home = nullptr;
  for (std::size_t at = 0; at < trace.frames.size() && at < kMostFrames; ++at) {
    const Frame& frame = trace.frames[at];
    const Place& here = place(frame);
    const std::string name = is_told(here) ? here.function->name : std::string();
    const bool in_kernel_page = here.module != nullptr && here.module->path == "[vdso]";
    if (frame.trust == Trust::scan || frame.signal_trampoline ||
        (home != nullptr && here.module != home)) {
      break;
    }
    if (plain_name(name) == "syscall" && home == nullptr) {
      found.by_syscall = true;
      continue;
    }
    if (!in_kernel_page) {
      home = here.module;
    }
    const std::string called =
        at + 1 < trace.frames.size() ? called_name(trace.frames[at + 1]) : std::string();
    for (const std::string& each : {name, called}) {
      if (found.call = call_named(each); found.call != LockCall::none) {
        found.name = std::string(plain_name(each));
        return found;
      }
      if (found.name.empty() && !each.empty() && !is_helper(each)) {
        found.name = std::string(plain_name(each));
      }
    }
    if (!name.empty() && !is_helper(name)) {
      break;
    }
  }
  return found;
}

}  // namespace whocall
