#include "runtime/crash/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "runtime/crash/record.h"

namespace whocall::runtime {
namespace {

constexpr mode_t kRingMode = 0600;  // it holds words of stacks
constexpr int kMostTries = 1000;    // a millisecond each: no record takes that long to be copied

// Where a file system knows of no blocks that are taken ahead, as those of flash memory: zeros
// behind what is there.
int take_by_writing(int file, std::size_t size) {
  constexpr char kZeros[kSlotUnit] = {};
  struct stat found;
  if (fstat(file, &found) != 0) {
    return errno;
  }
  for (auto at = static_cast<std::size_t>(found.st_size); at < size;) {
    const std::size_t piece = size - at < sizeof kZeros ? size - at : sizeof kZeros;
    const ssize_t written = pwrite(file, kZeros, piece, static_cast<off_t>(at));
    if (written <= 0) {
      return written == 0 ? ENOSPC : errno;
    }
    at += static_cast<std::size_t>(written);
  }
  return 0;
}

void* map_file(const char* path, std::size_t size) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, kRingMode);
  if (file < 0) {
    return MAP_FAILED;
  }
  void* memory = MAP_FAILED;
  // Blocks are taken now: in a handler there may be none left. A file that is longer stays so.
  int error = posix_fallocate(file, 0, static_cast<off_t>(size));
  if (error == EOPNOTSUPP || error == EINVAL) {
    error = take_by_writing(file, size);
  }
  if (error == 0) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  } else {
    errno = error;
  }
  const int kept = errno;
  close(file);
  errno = kept;
  return memory;
}

// The first word of a slot: zeros, the first half of a record's magic, or the process that is about
// to write there, whose numbers are smaller than any letters.
std::uint32_t* first_word(std::byte* slot) { return reinterpret_cast<std::uint32_t*>(slot); }

bool is_being_written(std::uint32_t word) {
  constexpr std::uint32_t kMostProcesses = 1U << 22U;
  if (word == 0 || word > kMostProcesses || word == static_cast<std::uint32_t>(getpid())) {
    return false;
  }
  return kill(static_cast<pid_t>(word), 0) == 0 || errno != ESRCH;  // who died there lost it
}

// Of the record that begins there, whole or not.
std::uint64_t sequence_field(const std::byte* slot) {
  std::uint64_t sequence = 0;
  std::memcpy(&sequence, slot + offsetof(RecordHeader, sequence), sizeof sequence);
  return sequence;
}

}  // namespace

int Ring::set(const whocall_crash_options& options) {
  const bool wanted = options.memory != nullptr || options.ring_path != nullptr;
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(options.memory) % sizeof(std::uint64_t) == 0;
  if (wanted && (options.ring_size < options.slot_size || !aligned)) {
    errno = EINVAL;
    return -1;
  }
  void* memory = options.memory;
  if (memory == nullptr && wanted) {
    memory = map_file(options.ring_path, options.ring_size);
    if (memory == MAP_FAILED) {
      return -1;
    }
  }
  if (is_file_) {
    munmap(memory_, size_);
  }
  memory_ = static_cast<std::byte*>(memory);
  size_ = wanted ? options.ring_size : 0;
  slot_size_ = options.slot_size;
  is_file_ = wanted && options.memory == nullptr;
  return 0;
}

// The ring may be one that had slots of another size.
std::uint64_t Ring::newest_in(std::size_t number) const {
  std::uint64_t newest = 0;
  for (std::size_t at = 0; at < slot_size_; at += kSlotUnit) {
    const std::byte* const place = slot(number) + at;
    const auto room = static_cast<std::size_t>(memory_ + size_ - place);
    const std::uint64_t there = sequence_of(place, room);
    newest = there > newest ? there : newest;
  }
  return newest;
}

std::uint64_t Ring::newest() const {
  std::uint64_t newest = 0;
  for (std::size_t i = 0; i < slots(); ++i) {
    const std::uint64_t there = newest_in(i);
    newest = there > newest ? there : newest;
  }
  return newest;
}

// `of_all`: those that are being written too.
Ring::Slot Ring::oldest(bool of_all) const {
  Slot found;
  std::uint64_t least = 0;
  for (std::size_t i = 0; i < slots(); ++i) {
    Slot looked_at{slot(i), __atomic_load_n(first_word(slot(i)), __ATOMIC_ACQUIRE), 0};
    looked_at.sequence = sequence_field(slot(i));
    const std::uint64_t there = newest_in(i);
    const bool older = found.place == nullptr || there < least;
    if (older && (of_all || !is_being_written(looked_at.word))) {
      least = there;
      found = looked_at;
    }
  }
  return found;
}

// Folklore. Situation: processes that crash at once, for the same reason, find the same slot to be
// the oldest. Example: sixteen workers of one server, of whose records one of twenty was lost.
// Remedy: who writes puts its number there first. Between the look and that somebody else may have
// written all of a record there, which the sequence number tells.
std::byte* Ring::claim() const {
  const auto own = static_cast<std::uint32_t>(getpid());
  for (int tried = 0; tried < kMostTries; ++tried) {
    const Slot slot = oldest(false);
    if (slot.place == nullptr) {
      const timespec moment{0, 1'000'000};
      nanosleep(&moment, nullptr);
      continue;
    }
    std::uint32_t before = slot.word;
    if (!__atomic_compare_exchange_n(first_word(slot.place), &before, own, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      continue;
    }
    if (sequence_field(slot.place) == slot.sequence) {
      return slot.place;
    }
    __atomic_store_n(first_word(slot.place), before, __ATOMIC_RELEASE);
  }
  return oldest(true).place;
}

void Ring::write(const void* bytes, std::size_t size) {
  if (slots() == 0 || size > slot_size_) {
    return;
  }
  std::byte* const place = claim();
  const auto* const record = static_cast<const std::byte*>(bytes);
  std::uint32_t first = 0;
  std::memcpy(&first, record, sizeof first);
  std::memcpy(place + sizeof first, record + sizeof first, size - sizeof first);
  std::memset(place + size, 0, slot_size_ - size);
  __atomic_store_n(first_word(place), first, __ATOMIC_RELEASE);
  if (is_file_) {
    msync(memory_, size_, MS_SYNC);
  }
}

}  // namespace whocall::runtime
