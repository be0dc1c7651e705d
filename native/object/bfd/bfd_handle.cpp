#include "object/bfd/bfd_handle.h"

#include "base/error.h"

namespace whocall {

std::mutex& bfd_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string bfd_error_text() { return bfd_errmsg(bfd_get_error()); }

BfdHandle open_bfd(const std::string& path) {
  BfdHandle file(bfd_openr(path.c_str(), nullptr));
  if (!file) {
    throw Error(path, "cannot be opened: " + bfd_error_text(), "Check the path");
  }
  file->flags |= BFD_DECOMPRESS;
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
