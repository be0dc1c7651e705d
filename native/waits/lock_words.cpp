#include "waits/lock_words.h"

#include <linux/futex.h>

namespace whocall {
namespace {

constexpr std::uint32_t kContended = 2;  // of a lock of glibc's: somebody waits

// __kind of pthread_mutex_t (nptl/pthreadP.h)
constexpr std::uint32_t kTypeBits = 3;
constexpr std::uint32_t kRobustBit = 16;
constexpr std::uint32_t kInheritBit = 32;
constexpr std::uint32_t kProtectBit = 64;
constexpr std::uint32_t kSharedBit = 128;
constexpr std::uint32_t kElisionBits = 256 | 512;
constexpr std::uint32_t kKindBits =
    kTypeBits | kRobustBit | kInheritBit | kProtectBit | kSharedBit | kElisionBits;
constexpr std::uint32_t kDestroyed = ~std::uint32_t{0};

// _m_type of musl's pthread_mutex_t, and _m_lock of one that keeps no owner.
constexpr std::uint32_t kMuslTypeBits = 15;
constexpr std::uint32_t kMuslRobustBit = 4;
constexpr std::uint32_t kMuslInheritBit = 8;
constexpr std::uint32_t kMuslBusy = 16;

// __readers of pthread_rwlock_t (nptl/pthread_rwlock_common.c)
constexpr std::uint32_t kWritePhase = 1;
constexpr std::uint32_t kWriteLocked = 2;
constexpr unsigned kReaderShift = 3;

constexpr std::string_view kChanged = "its memory has changed since";
constexpr std::string_view kDestroyedSince = "it was destroyed meanwhile";
constexpr std::string_view kNoOwner = "its memory names no owner";

std::string_view type_of(std::uint32_t kind) {
  constexpr std::string_view kPlain[] = {"", "recursive", "error-checking", "adaptive"};
  constexpr std::string_view kRobust[] = {"robust", "robust recursive", "robust error-checking",
                                          "robust adaptive"};
  constexpr std::string_view kInherit[] = {"priority-inheriting", "priority-inheriting recursive",
                                           "priority-inheriting error-checking",
                                           "priority-inheriting adaptive"};
  constexpr std::string_view kProtect[] = {"priority-protecting", "priority-protecting recursive",
                                           "priority-protecting error-checking",
                                           "priority-protecting adaptive"};
  const std::uint32_t type = kind & kTypeBits;
  return (kind & kRobustBit) != 0    ? kRobust[type]
         : (kind & kInheritBit) != 0 ? kInherit[type]
         : (kind & kProtectBit) != 0 ? kProtect[type]
                                     : kPlain[type];
}

bool waits_plainly(const FutexWait& wait) {
  return wait.operation == FUTEX_WAIT || wait.operation == FUTEX_WAIT_BITSET;
}

}  // namespace

LockWords LockReader::inheriting(const FutexWait& wait) const {
  LockWords found;
  const auto now = word(wait.address);
  found.address = wait.address;
  found.type = "priority-inheriting";
  found.shared = !wait.is_private;
  if (!now || (*now & FUTEX_TID_MASK) == 0) {
    found.doubt = kNoOwner;
    return found;
  }
  found.owner = *now & FUTEX_TID_MASK;
  found.held = (*now & FUTEX_WAITERS) != 0 && (*now & FUTEX_OWNER_DIED) == 0;
  return found;
}

LockWords LockReader::glibc_mutex(const FutexWait& wait) const {
  LockWords found;
  const auto now = word(wait.address);
  const auto count = word(wait.address + 4);
  const auto owner = word(wait.address + 8);
  const auto kind = word(wait.address + (wide_ ? 16 : 12));
  const auto users = word(wait.address + (wide_ ? 12 : 16));
  if (!now || !count || !owner || !kind || !users || (*kind & ~kKindBits) != 0) {
    found.doubt = kind == kDestroyed ? kDestroyedSince : kChanged;
    return found;
  }
  const bool robust = (*kind & kRobustBit) != 0;
  const bool inherits = (*kind & kInheritBit) != 0;
  found.shared = (*kind & kSharedBit) != 0;
  // Robust ones are always waited for as if they were shared.
  if (!robust && wait.is_private == found.shared) {
    found.doubt = kChanged;
    return found;
  }
  found.address = wait.address;
  found.type = type_of(*kind);
  if (robust) {
    found.link = wait.address + robust_link(wide_);
  }
  if (inherits) {
    const LockWords told = inheriting(wait);
    found.held = told.held && told.owner == *owner;
  } else if (robust) {
    found.held = *now == wait.expected && (*now & FUTEX_OWNER_DIED) == 0 &&
                 (*now & FUTEX_TID_MASK) == *owner;
  } else if ((*kind & kProtectBit) != 0) {
    found.held = *now == wait.expected && (*now & kContended) != 0;
  } else {
    found.held = *now == kContended && wait.expected == kContended;
  }
  const bool is_recursive = (*kind & kTypeBits) == 1;
  if (!found.held) {
    found.doubt = "nobody had it at that moment, or somebody was about to give it back";
  } else if (*owner == 0 || *users == 0 || (is_recursive && *count == 0)) {
    found.held = false;
    found.doubt = kNoOwner;
  } else {
    found.owner = *owner;
  }
  return found;
}

LockWords LockReader::musl_mutex(const FutexWait& wait) const {
  LockWords found;
  const auto type = word(wait.address - 4);
  const auto now = word(wait.address);
  const std::uint32_t known = kMuslTypeBits | kSharedBit;
  if (!type || !now || (*type & ~known) != 0) {
    found.doubt = kChanged;
    return found;
  }
  found.address = wait.address - 4;
  found.shared = (*type & kSharedBit) != 0;
  const std::uint32_t plain = *type & kTypeBits;
  std::uint32_t kind = plain | ((*type & kMuslRobustBit) != 0 ? kRobustBit : 0);
  kind |= (*type & kMuslInheritBit) != 0 ? kInheritBit : 0;
  found.type = type_of(kind);
  const std::uint32_t owner = *now & FUTEX_TID_MASK;
  const bool contended = (*now & FUTEX_WAITERS) != 0;
  if ((*type & kMuslTypeBits) == 0) {
    found.held = contended && *now == wait.expected && owner == kMuslBusy;
    found.doubt = "musl keeps no owner of such a mutex";
  } else if (contended && owner != 0 && (waits_plainly(wait) ? *now == wait.expected : true)) {
    found.held = true;
    found.owner = owner;
  } else {
    found.doubt = kNoOwner;
  }
  return found;
}

LockWords LockReader::glibc_rwlock(const FutexWait& wait, bool writes) const {
  // 1: the word says that there is something to wait for; 2: somebody waits.
  constexpr std::uint32_t kPhaseUsed = 2;
  constexpr std::uint32_t kWritersUsed = 3;
  LockWords found;
  Address base = wait.address;
  if (writes) {  // for the end of the readers' phase, or for its turn among writers
    base -= wait.expected == kPhaseUsed ? 8 : 12;
    if (wait.expected != kPhaseUsed && wait.expected != kWritersUsed) {
      found.doubt = kChanged;
      return found;
    }
  } else if (wait.expected == kWritersUsed) {
    base -= 8;
  }
  const auto readers = word(base);
  const auto writer = word(base + (wide_ ? 24 : 28));
  const auto sharing = wide_ ? word(base + 28) : word(base + 24);
  // Beside flags in 32-bit programs, and for both byte orders at the same place.
  const std::uint32_t shared = wide_ || !sharing ? sharing.value_or(0) : (*sharing >> 8U) & 0xffU;
  if (!readers || !writer || !sharing || shared > 1 || (shared == 0) != wait.is_private) {
    found.doubt = kChanged;
    return found;
  }
  found.address = base;
  found.shared = shared != 0;
  const bool same = word(wait.address) == wait.expected;
  const bool written = (*readers & kWriteLocked) != 0 && (*readers & kWritePhase) != 0;
  if (same && written && *writer != 0) {
    found.held = true;
    found.owner = *writer;
  } else if (same && (*readers & kWritePhase) == 0 && *readers >> kReaderShift != 0) {
    found.readers = *readers >> kReaderShift;
    found.doubt = "the lock counts its readers and does not name them";
  } else {
    found.doubt = kNoOwner;
  }
  return found;
}

std::optional<Address> LockReader::stdio_owner(const FutexWait& wait) const {
  const auto count = word(wait.address + 4);
  if (word(wait.address) != kContended || wait.expected != kContended || !count || *count == 0 ||
      *count > 0xffff) {
    return std::nullopt;
  }
  return pointer(wait.address + 8);
}

}  // namespace whocall
