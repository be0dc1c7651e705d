#include "runtime/trusted_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace whocall::runtime {

int open_to_read(const char* path, struct stat& status) {
  // Before it is opened, so that no device is, and behind that, as somebody may change it between.
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
    return -1;
  }
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
    close(file);
    return -1;
  }
  return file;
}

bool is_trusted(const struct stat& file, const struct stat& program) {
  const bool by_owner = file.st_uid == 0 || file.st_uid == program.st_uid;
  const bool group_may = (file.st_mode & S_IWGRP) != 0;
  const bool by_group = file.st_gid == program.st_gid && (program.st_mode & S_IWGRP) != 0;
  return by_owner && (!group_may || by_group) && (file.st_mode & S_IWOTH) == 0;
}

struct stat own_program() {
  struct stat status {};
  if (stat("/proc/self/exe", &status) != 0) {
    status = {};
  }
  return status;
}

}  // namespace whocall::runtime
