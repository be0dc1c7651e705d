// What each thread of a process waits for, and who has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/process_image.h"
#include "waits/kernel_call.h"

namespace whocall {

enum class WaitKind : std::uint8_t {
  nothing,  // it runs
  mutex,
  rwlock,
  condition,
  semaphore,
  join,
  barrier,
  once,
  future,
  lock,   // another lock of a library's
  futex,  // a word; what it stands for is not known
  pipe,
  socket,
  terminal,
  file,
  event,       // of the kernel: eventfd, timerfd, inotify, ...
  descriptor,  // what stands behind it is not known
  poll,
  sleep,
  child,
  signal,
  message,  // System V's and POSIX's queues and semaphores
  call,     // another call of the kernel
  unknown,
};
std::string_view to_string(WaitKind kind);  // "mutex", "rwlock", ...: the word in JSON

struct Waiting {
  std::size_t thread = 0;  // index in the process
  WaitKind kind = WaitKind::nothing;
  std::optional<KernelCall> call{};
  std::string function{};           // of the library, in which it waits; may be empty
  std::optional<Address> object{};  // what it waits for, or the word at which
  std::string_view type{};          // "recursive", "robust"
  bool writes = false;              // wants a reader-writer lock for itself
  bool timed = false;               // it ends by itself
  // Who has the lock, or ends: a thread of the process, where its own record proves that.
  std::optional<std::size_t> owner{};
  std::optional<std::int64_t> owner_tid{};   // as the lock has it
  std::optional<std::uint32_t> readers{};    // have it, nobody knows which
  std::string_view doubt{};                  // a phrase: why no owner is told
  std::optional<std::int64_t> descriptor{};  // of a file
  std::string descriptor_name{};             // where /proc tells it

  // Only the owner can end it.
  [[nodiscard]] bool is_bound() const { return owner.has_value() && !timed; }
};

}  // namespace whocall
