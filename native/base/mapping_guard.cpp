#include "base/mapping_guard.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <optional>

namespace whocall {
namespace {

// What the handler of the signal looks at: no lock and no allocation. A slot is never freed, as the
// handler may stand on it; it is used again.
struct Slot {
  std::atomic<std::uintptr_t> begin = 0;  // 0: of no mapping now
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> was_cut = false;
  Slot* next = nullptr;
  // Guarded by the mutex, not for the handler.
  bool used = false;
  bool counted = false;
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
};

std::atomic<Slot*> the_slots = nullptr;
struct sigaction the_former = {};

struct Counted {
  std::mutex mutex;
  CutFiles cut;
};

// Mappings may end after everything else has been destroyed.
Counted& counted() {
  static auto* const kCounted = new Counted;
  return *kCounted;
}

bool put_zeros_at(std::uintptr_t address) {
  const auto page = address & ~(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
  for (Slot* slot = the_slots; slot != nullptr; slot = slot->next) {
    const std::uintptr_t begin = slot->begin;
    const std::uintptr_t end = slot->end;
    const bool is_one = slot->begin == begin;  // it was not used again between the two
    if (begin == 0 || !is_one || address < begin || address >= end) {
      continue;
    }
    slot->was_cut = true;
    return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

// As if we had never been there. A signal that no access raised is sent once more.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((the_former.sa_flags & SA_SIGINFO) != 0) {
    the_former.sa_sigaction(signal, info, context);
  } else if (the_former.sa_handler != SIG_DFL && the_former.sa_handler != SIG_IGN) {
    the_former.sa_handler(signal);
  } else {
    ::sigaction(signal, &the_former, nullptr);
    if (info->si_code <= 0) {
      ::raise(signal);
    }
  }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int before = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool mended = info->si_code == BUS_ADRERR && put_zeros_at(address);
  errno = before;
  if (!mended) {
    pass_on(signal, info, context);
  }
}

void install_once() {
  [[maybe_unused]] static const bool kInstalled = [] {
    struct sigaction ours = {};
    ours.sa_sigaction = &on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(SIGBUS, nullptr, &the_former);
    return ::sigaction(SIGBUS, &ours, nullptr) == 0;
  }();
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

// Whether it is the same file, but ends before the mapping does.
bool is_shorter_now(const Slot& slot) {
  const auto status = status_of(slot.path);
  return status && status->st_dev == slot.device && status->st_ino == slot.inode &&
         static_cast<std::uintptr_t>(status->st_size) < slot.end - slot.begin;
}

// With the mutex held.
void count_if_cut(Slot& slot, bool is_cut) {
  if (is_cut && !slot.counted) {
    slot.counted = true;
    ++counted().cut.count;
    counted().cut.last = slot.path;
  }
}

// With the mutex held.
Slot& free_slot() {
  for (Slot* slot = the_slots; slot != nullptr; slot = slot->next) {
    if (!slot->used) {
      return *slot;
    }
  }
  auto* slot = new Slot;
  slot->next = the_slots;
  the_slots = slot;
  return *slot;
}

Slot& slot_for(std::span<const std::byte> pages, const std::string& path) {
  const auto status = status_of(path);
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
  const std::scoped_lock lock(counted().mutex);
  Slot& slot = free_slot();
  slot.path = path;
  slot.used = true;
  slot.counted = false;
  slot.was_cut = false;
  slot.device = status ? status->st_dev : 0;
  slot.inode = status ? status->st_ino : 0;
  slot.end = begin + pages.size();
  slot.begin = begin;
  return slot;
}

void release(Slot& slot) {
  const std::scoped_lock lock(counted().mutex);
  count_if_cut(slot, slot.was_cut || is_shorter_now(slot));
  slot.begin = 0;
  slot.used = false;
}

}  // namespace

std::shared_ptr<const void> guard_mapping(std::span<const std::byte> pages,
                                          const std::string& path) {
  install_once();
  return {&slot_for(pages, path), [](Slot* guarded) { release(*guarded); }};
}

CutFiles cut_files() {
  const std::scoped_lock lock(counted().mutex);
  for (Slot* slot = the_slots; slot != nullptr; slot = slot->next) {
    if (slot->used) {
      count_if_cut(*slot, slot->was_cut || is_shorter_now(*slot));
    }
  }
  return counted().cut;
}

}  // namespace whocall
