#include "object/bfd/bfd_handle.h"

#include <cstdio>

#include "base/error.h"
#include "base/regular_file.h"

namespace whocall {
namespace {

// Folklore: while it looks for a file's format, libbfd 2.40 collects complaints ("warning: a.out
// has a section extending past end of file") and then writes them to `stderr` itself, past the
// handler that was set, in the middle of the user's session. glibc's `stderr` is a variable (see
// its manual, "Standard Streams"), so for as long it names a stream that swallows all.
class QuietStandardError {
 public:
  // Without functions it discards what it is given (fopencookie(3)), and opens no file.
  QuietStandardError() : nowhere_(::fopencookie(nullptr, "w", {})), saved_(stderr) {
    if (nowhere_ != nullptr) {
      stderr = nowhere_;
    }
  }
  QuietStandardError(const QuietStandardError&) = delete;
  QuietStandardError& operator=(const QuietStandardError&) = delete;
  ~QuietStandardError() {
    stderr = saved_;
    if (nowhere_ != nullptr) {
      std::fclose(nowhere_);
    }
  }

 private:
  std::FILE* nowhere_;
  std::FILE* saved_;
};

}  // namespace

std::mutex& bfd_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string bfd_error_text() { return bfd_errmsg(bfd_get_error()); }

BfdHandle open_bfd(const std::string& path) {
  struct stat status = {};
  // By a descriptor, so that libbfd never opens the path, nor opens it again.
  BfdHandle file(bfd_fdopenr(path.c_str(), nullptr, open_regular(path, status)));
  if (!file) {
    throw Error(path, "cannot be opened: " + bfd_error_text(), "Check the path");
  }
  file->flags |= BFD_DECOMPRESS;
  const QuietStandardError quiet;
  if (bfd_check_format(file.get(), bfd_archive)) {
    throw Error(path, "is an archive of object files",
                "Take the member out with `ar x` and give that");
  }
  char** matches = nullptr;
  if (bfd_check_format_matches(file.get(), bfd_object, &matches)) {
    return file;
  }
  std::string reason = "is no object file that libbfd knows: " + bfd_error_text();
  if (matches != nullptr && bfd_get_error() == bfd_error_file_ambiguously_recognized) {
    reason += " as";
    for (char** name = matches; *name != nullptr; ++name) {
      reason += std::string(" ") + *name;
    }
  }
  std::free(matches);
  throw Error(path, reason, "Give an executable, a library or an object file");
}

}  // namespace whocall
