/* What strangers may decide in a program: whose environment is obeyed, and which files are written
 * to. C and C++: every part of libwhocall asks here, and nothing else in it reads the environment
 * or opens a file for writing (tests/architecture). Any of it may be called in a signal handler. */
#ifndef WHOCALL_RUNTIME_PRIVILEGE_H
#define WHOCALL_RUNTIME_PRIVILEGE_H

/* NOLINTBEGIN: a header of C */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* A hook that called hooks would not end. */
#define WHOCALL_INLINE static inline __attribute__((no_instrument_function, unused))

/* Whether the program has rights that who started it has not: set-user-ID, set-group-ID, file
 * capabilities, or a policy of the kernel's. It stays so when the program gives them up. */
WHOCALL_INLINE bool whocall_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

/* A variable of the environment. NULL where it is not set or empty, and always in a privileged
 * program: its environment is the stranger's. */
WHOCALL_INLINE const char* whocall_setting(const char* name) {
  const char* const value = whocall_is_privileged() ? NULL : getenv(name);
  return value == NULL || *value == 0 ? NULL : value;
}

typedef enum whocall_output_kind {
  WHOCALL_OUTPUT_FILE,  /* a regular file, which is mapped */
  WHOCALL_OUTPUT_STREAM /* or a pipe with a name, or a terminal and its like */
} whocall_output_kind;

/* Links of the system's to what the process has open already. */
WHOCALL_INLINE bool whocall_is_own_stream(const char* path) {
  return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 ||
         strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0;
}

/* Whether what is open is what a path for outputs may lead to: nothing that another user laid
 * there, neither by its owner nor by a second name of a file that is somebody's. 0, or the error.
 */
WHOCALL_INLINE int whocall_output_error(int file, whocall_output_kind kind) {
  struct stat found;
  if (fstat(file, &found) != 0) {
    return errno;
  }
  const bool regular = S_ISREG(found.st_mode);
  const bool stream =
      kind == WHOCALL_OUTPUT_STREAM && (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode));
  if (!regular && !stream) {
    return EINVAL;
  }
  const bool own = found.st_uid == 0 || found.st_uid == geteuid();
  return own && (!regular || found.st_nlink <= 1) ? 0 : EPERM;
}

/* Opens what is there, as whocall_open_output does. */
WHOCALL_INLINE int whocall_open_present(const char* path, int access, whocall_output_kind kind) {
  const int flags = access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  const int file = open(path, flags);
  const int error = file < 0 ? errno : whocall_output_error(file, kind);
  if (file >= 0 && error != 0) {
    close(file);
    errno = error;
    return -1;
  }
  return file;
}

/* Opens a file to be written to (`access`: O_RDWR, O_WRONLY, with O_APPEND or without), made where
 * there is none, for its owner alone: what crashes and traces say holds words of the program's
 * memory. Waits for nobody at a pipe, and follows no link but the system's own. -1 with errno. */
WHOCALL_INLINE int whocall_open_output(const char* path, int access, whocall_output_kind kind) {
  const int flags = access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (kind == WHOCALL_OUTPUT_STREAM && whocall_is_own_stream(path)) {
    return open(path, flags);
  }
  const int made = open(path, flags | O_CREAT | O_EXCL, 0600);
  return made >= 0 || errno != EEXIST ? made : whocall_open_present(path, access, kind);
}
/* NOLINTEND */

#endif
