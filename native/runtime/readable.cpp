#include "runtime/readable.h"

#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace whocall::runtime {
namespace {

constexpr std::uintptr_t kPage = 4096;           // bytes: machines have no smaller ones
constexpr std::size_t kMaskSize = _NSIG / 8;     // bytes, of the kernel's masks of signals
constexpr std::uintptr_t kNowhere = -kMaskSize;  // the last bytes of all are never a program's

// The kernel copies a mask of signals before it looks at what is to be done with it: with nothing
// that it knows to be done, it says whether it could.
bool readable_by_nothing(std::uintptr_t address) {
  constexpr int kNothing = -1;
  const long result = syscall(SYS_rt_sigprocmask, kNothing, address, nullptr, kMaskSize);
  return result == 0 || errno != EFAULT;
}

// Emulators look in another order. There the mask is used, for a moment.
bool readable_by_mask(std::uintptr_t address) {
  unsigned char before[kMaskSize];
  if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, address, before, kMaskSize) != 0) {
    return false;
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, nullptr, kMaskSize);
  return true;
}

// Whether the kernel looks in the other order.
bool looks_late() {
  enum : int { unknown, early, late };
  static std::atomic<int> known{unknown};
  int kind = known.load(std::memory_order_relaxed);
  if (kind == unknown) {
    kind = readable_by_nothing(kNowhere) ? late : early;
    known.store(kind, std::memory_order_relaxed);
  }
  return kind == late;
}

}  // namespace

bool readable(std::uintptr_t address) {
  if (address < kPage) {
    return false;  // and no mask at all would be asked about
  }
  const int kept = errno;
  const std::uintptr_t mask = address & ~(kMaskSize - 1);
  const bool result = looks_late() ? readable_by_mask(mask) : readable_by_nothing(mask);
  errno = kept;
  return result;
}

bool CheckedReader::read(std::uintptr_t address, std::uintptr_t& value) {
  if (address % sizeof value != 0) {
    return false;
  }
  const std::uintptr_t page = address & ~(kPage - 1);
  if (page != readable_) {
    if (!readable(address)) {
      return false;
    }
    readable_ = page;
  }
  value = *reinterpret_cast<const std::uintptr_t*>(address);
  return true;
}

}  // namespace whocall::runtime
