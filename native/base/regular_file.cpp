#include "base/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace whocall {
namespace {

constexpr int kToRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

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

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Opens the very file that was looked at. The kernel's link to it is not there in a root without
// /proc: there the path is taken once more, and what is open then compared.
int open_looked_at(int seen, const struct stat& status, const std::string& path) {
  const std::string link = "/proc/self/fd/" + std::to_string(seen);
  for (const std::string* way : {&link, &path}) {
    Descriptor file(::open(way->c_str(), kToRead));
    struct stat now = {};
    if (file.get() >= 0 && ::fstat(file.get(), &now) == 0 && is_same(status, now)) {
      return file.release();
    }
    if (file.get() >= 0) {
      errno = ESTALE;  // another file was put there in between
    }
  }
  return -1;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

int Descriptor::release() { return std::exchange(number_, -1); }

RegularFile try_regular(const std::string& path) {
  RegularFile result{-1, {}, 0};
  const Descriptor seen(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (seen.get() < 0 || ::fstat(seen.get(), &result.status) != 0) {
    result.error = errno;
    return result;
  }
  if (S_ISREG(result.status.st_mode)) {
    result.number = open_looked_at(seen.get(), result.status, path);
    result.error = result.number < 0 ? errno : 0;
  }
  return result;
}

int open_regular(const std::string& path, struct stat& status) {
  const RegularFile found = try_regular(path);
  if (found.number >= 0) {
    status = found.status;
    return found.number;
  }
  if (found.error != 0) {
    fail_with(path, "cannot be opened", found.error);
  }
  throw Error(path, S_ISDIR(found.status.st_mode) ? "is a directory, not a file" : "is not a file",
              "Give the path of a regular file");
}

void fail_with(const std::string& path, const std::string& what, int error) {
  throw Error(path, what + ": " + std::strerror(error), remedy_for(error));
}

}  // namespace whocall
