#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/mapping_guard.h"

namespace whocall {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::string remedy_for(int error) {
  switch (error) {
    case ENOENT:
      return "Check the path; relative paths start at the current directory";
    case EACCES:
    case EPERM:
      return "Make it readable, or run as the user that owns it";
    case ENOTDIR:
      return "Check the path: a part of it before the last one is a file, not a directory";
    case ELOOP:
      return "Check the path: its symbolic links lead back to themselves";
    case ENAMETOOLONG:
      return "Check the path: the kernel takes no name as long as this one";
    case EMFILE:
    case ENFILE:
      return "Raise the limit on open files (ulimit -n), or close some";
    case ENOMEM:
      return "Free some memory, or raise the limit on address space (ulimit -v)";
    default:
      return "Check that the file can be read, with `cat` for instance, or give a copy of it";
  }
}

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw Error(path, what + ": " + std::strerror(error), remedy_for(error));
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a fifo must not hang the debugger.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    fail(path, "cannot be opened", errno);
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) {
    fail(path, "cannot be examined", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(path, S_ISDIR(status.st_mode) ? "is a directory, not a file" : "is not a file",
                "Give the path of a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    return std::shared_ptr<const MappedFile>(new MappedFile(path, {}));
  }
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) {
    fail(path, "cannot be mapped", errno);
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, {static_cast<const std::byte*>(start), size}));
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {
  if (!bytes_.empty()) {
    guard_ = guard_mapping(bytes_, path_);
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    guard_.reset();
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace whocall
