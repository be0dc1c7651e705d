#include "runtime/crash/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/crash/record.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kPathRoom = 4096;
constexpr std::size_t kUsualSlot = 4096;  // bytes
constexpr mode_t kMode = 0600;            // it holds words of the stack
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

}  // namespace

int Output::set(const whocall_crash_options& options) {
  if (options.size != sizeof options || options.slot_size % kSlotUnit != 0) {
    errno = EINVAL;
    return -1;
  }
  whocall_crash_options wanted = options;
  wanted.slot_size = wanted.slot_size == 0 ? kUsualSlot : wanted.slot_size;
  if (ring_.set(wanted) != 0) {
    return -1;
  }
  options_ = wanted;
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
  return options_.record_fd >= 0 || options_.record_path != nullptr || ring_.exists();
}

std::size_t Output::record_room(std::size_t most) const {
  return ring_.exists() && ring_.slot_size() < most ? ring_.slot_size() : most;
}

std::uint64_t Output::next_sequence() {
  ++made_;
  return ring_.exists() ? ring_.newest() + 1 : made_;
}

void Output::write_record(const void* bytes, std::size_t size) {
  const int file = options_.record_path == nullptr ? -1 : open_to_append(options_.record_path);
  Sink to{.fd = file >= 0 ? file : options_.record_fd, .patience = kPatience};
  write_all(to, bytes, size);
  if (file >= 0) {
    close(file);
  }
  ring_.write(bytes, size);
}

}  // namespace whocall::runtime
