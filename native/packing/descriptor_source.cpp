#include "packing/descriptor_source.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/interrupt.h"
#include "base/regular_file.h"

namespace whocall {
namespace {

// Bytes from `offset` on; 0 for what is no file.
std::uint64_t rest_of_file(int file, std::uint64_t offset) {
  struct stat status = {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    return 0;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return size - std::min(offset, size);
}

std::uint64_t place_in(int file) {
  return static_cast<std::uint64_t>(std::max<off_t>(::lseek(file, 0, SEEK_CUR), 0));
}

// Of a descriptor that does not wait by itself.
void wait_for_bytes(int file) {
  pollfd asked{file, POLLIN, 0};
  (void)::poll(&asked, 1, 100);
}

}  // namespace

DescriptorSource::DescriptorSource(int file, std::string name)
    : file_(file), name_(std::move(name)), total_(rest_of_file(file, place_in(file))) {}

DescriptorSource::DescriptorSource(int file, std::string name, std::uint64_t offset,
                                   std::uint64_t size)
    : file_(file),
      name_(std::move(name)),
      begin_(offset),
      total_(std::min(size, rest_of_file(file, offset))) {}

std::size_t DescriptorSource::read(std::span<std::byte> room) {
  if (begin_) {
    room = room.first(std::min<std::uint64_t>(room.size(), total_ - done_));
    if (room.empty()) {
      return 0;
    }
  }
  while (true) {
    check_interrupt();
    const ssize_t count =
        begin_ ? ::pread(file_, room.data(), room.size(), static_cast<off_t>(*begin_ + done_))
               : ::read(file_, room.data(), room.size());
    if (count >= 0) {
      done_ += static_cast<std::size_t>(count);
      return static_cast<std::size_t>(count);
    }
    if (errno == EAGAIN) {
      wait_for_bytes(file_);
    } else if (errno != EINTR) {
      fail_with(name_, "cannot be read", errno);
    }
  }
}

}  // namespace whocall
