#include "memory/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace whocall {

ProcessMemory::ProcessMemory(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/mem";
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) {
    const int error = errno;
    if (error == ENOENT || error == ESRCH) {
      throw Error("process " + std::to_string(pid), "has ended",
                  "Write a core when it crashes and give that instead");
    }
    throw Error(path, std::string("cannot be opened: ") + std::strerror(error),
                "Run as the process's user or as root");
  }
}

ProcessMemory::~ProcessMemory() { ::close(file_); }

std::size_t ProcessMemory::fetch(Address address, std::span<std::byte> out) const {
  ssize_t count = 0;
  do {
    count = ::pread64(file_, out.data(), out.size(), static_cast<off64_t>(address));
  } while (count < 0 && errno == EINTR);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

}  // namespace whocall
