#include "runtime/crash/output.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/crash/record.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kPathRoom = 4096;
constexpr std::size_t kUsualSlot = 4096;  // bytes
constexpr mode_t kMode = 0644;
// A pipe with a name is nothing to wait at.
constexpr int kToAppend = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
constexpr int kPatience = 10'000;  // milliseconds: nobody who reads a pipe is slower

// "%p" becomes the process' number. In static memory: one report is made at a time.
const char* filled_in(const char* pattern) {
  static char path[kPathRoom];
  std::size_t size = 0;
  for (; *pattern != '\0' && size + 24 < kPathRoom; ++pattern) {
    if (pattern[0] != '%' || pattern[1] != 'p') {
      path[size++] = *pattern;
      continue;
    }
    char digits[12];
    std::size_t count = 0;
    for (auto number = static_cast<unsigned>(getpid()); number != 0; number /= 10) {
      digits[count++] = static_cast<char>('0' + number % 10);
    }
    while (count != 0) {
      path[size++] = digits[--count];
    }
    ++pattern;
  }
  path[size] = '\0';
  return path;
}

int open_to_append(const char* pattern) { return open(filled_in(pattern), kToAppend, kMode); }

void* map_ring(const char* path, std::size_t size) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0) {
    return MAP_FAILED;
  }
  void* memory = MAP_FAILED;
  // Blocks are taken now: in a handler there may be none left. A file that is longer stays so.
  const int error = posix_fallocate(file, 0, static_cast<off_t>(size));
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

}  // namespace

int Output::set(const whocall_crash_options& options) {
  if (options.size != sizeof options || options.slot_size % kSlotUnit != 0) {
    errno = EINVAL;
    return -1;
  }
  whocall_crash_options wanted = options;
  wanted.slot_size = wanted.slot_size == 0 ? kUsualSlot : wanted.slot_size;
  const bool wants_ring = wanted.memory != nullptr || wanted.ring_path != nullptr;
  const bool aligned = reinterpret_cast<std::uintptr_t>(wanted.memory) % sizeof(std::uint64_t) == 0;
  if (wants_ring && (wanted.ring_size < wanted.slot_size || !aligned)) {
    errno = EINVAL;
    return -1;
  }
  void* memory = wanted.memory;
  if (memory == nullptr && wants_ring) {
    memory = map_ring(wanted.ring_path, wanted.ring_size);
    if (memory == MAP_FAILED) {
      return -1;
    }
  }
  if (ring_is_file_) {
    munmap(ring_, ring_size_);
  }
  options_ = wanted;
  ring_ = static_cast<std::byte*>(memory);
  ring_size_ = wants_ring ? wanted.ring_size : 0;
  ring_is_file_ = wants_ring && wanted.memory == nullptr;
  return 0;
}

Sink Output::open_text() const {
  const int file = options_.text_path == nullptr ? -1 : open_to_append(options_.text_path);
  return {.fd = file >= 0 ? file : options_.text_fd, .patience = kPatience};
}

void Output::close_text(const Sink& text) const {
  if (text.fd >= 0 && text.fd != options_.text_fd) {
    close(text.fd);
  }
}

bool Output::wants_record() const {
  return options_.record_fd >= 0 || options_.record_path != nullptr || ring_ != nullptr;
}

std::size_t Output::record_room(std::size_t most) const {
  return ring_ != nullptr && options_.slot_size < most ? options_.slot_size : most;
}

std::size_t Output::slots() const { return ring_ == nullptr ? 0 : ring_size_ / options_.slot_size; }

std::byte* Output::slot(std::size_t number) const { return ring_ + number * options_.slot_size; }

std::uint64_t Output::next_sequence() {
  ++made_;
  std::uint64_t last = ring_ == nullptr ? made_ - 1 : 0;
  for (std::size_t i = 0; i < slots(); ++i) {
    const std::uint64_t there = sequence_of(slot(i), options_.slot_size);
    last = there > last ? there : last;
  }
  return last + 1;
}

void Output::write_record(const void* bytes, std::size_t size) {
  const int file = options_.record_path == nullptr ? -1 : open_to_append(options_.record_path);
  Sink to{.fd = file >= 0 ? file : options_.record_fd, .patience = kPatience};
  write_all(to, bytes, size);
  if (file >= 0) {
    close(file);
  }
  // Into a slot without a record, or over the oldest one.
  std::size_t oldest = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < slots(); ++i) {
    const std::uint64_t there = sequence_of(slot(i), options_.slot_size);
    if (there < least) {
      least = there;
      oldest = i;
    }
  }
  if (slots() != 0 && size <= options_.slot_size) {
    std::memcpy(slot(oldest), bytes, size);
    std::memset(slot(oldest) + size, 0, options_.slot_size - size);
    if (ring_is_file_) {
      msync(ring_, ring_size_, MS_SYNC);
    }
  }
}

}  // namespace whocall::runtime
