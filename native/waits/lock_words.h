// Locks as C libraries lay them out in memory, and the owner of each.
//
// glibc 2.36 to 2.41 (nptl/, sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h), musl 1.2
// (src/internal/pthread_impl.h), and the kernel's own rules for robust and priority-inheriting
// futexes (Documentation/locking/robust-futex-ABI, pi-futex).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "process/process_image.h"

namespace whocall {

// What a thread hands to the kernel to wait at a word.
struct FutexWait {
  Address address = 0;
  unsigned operation = 0;  // FUTEX_WAIT, ..., without flags
  bool is_private = false;
  bool timed = false;
  std::uint32_t expected = 0;  // the kernel lets it sleep where the word is that
};

// What the words of a lock say. A lock of which they say that it cannot be what it should be has no
// address.
struct LockWords {
  std::optional<Address> address{};     // of the object, as the program knows it
  std::string_view type{};              // "recursive", "robust"; empty for a plain one
  std::optional<std::int64_t> owner{};  // thread id
  std::optional<std::uint32_t> readers{};
  // Other processes may have it: ids may be those of another namespace.
  bool shared = false;
  // Of a robust one: what its owner has in its list (ThreadIds::has_in_list).
  std::optional<Address> link{};
  // The word is what the thread waits for it to be no longer.
  bool held = false;
  std::string_view doubt{};  // a phrase: why no owner is told, or that it is no such lock
};

// From a mutex of glibc's to the link by which it is in its owner's list of robust ones, bytes.
constexpr std::uint64_t robust_link(bool wide) { return wide ? 32 : 20; }

class LockReader {
 public:
  explicit LockReader(const ProcessImage& process)
      : memory_(*process.memory),
        endian_(process.arch->abi.endian),
        wide_(process.arch->abi.pointer_size == 8) {}

  [[nodiscard]] std::optional<std::uint32_t> word(Address address) const {
    const auto value = memory_.read_unsigned(address, 4, endian_);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  }
  [[nodiscard]] std::optional<Address> pointer(Address address) const {
    return memory_.read_unsigned(address, wide_ ? 8 : 4, endian_);
  }

  // The kernel's own: the word holds the owner's id.
  [[nodiscard]] LockWords inheriting(const FutexWait& wait) const;
  [[nodiscard]] LockWords glibc_mutex(const FutexWait& wait) const;
  [[nodiscard]] LockWords musl_mutex(const FutexWait& wait) const;
  [[nodiscard]] LockWords glibc_rwlock(const FutexWait& wait, bool writes) const;
  // A lock of stdio: its owner is the address of a thread's record.
  [[nodiscard]] std::optional<Address> stdio_owner(const FutexWait& wait) const;

 private:
  const Memory& memory_;
  Endian endian_;
  bool wide_;
};

}  // namespace whocall
