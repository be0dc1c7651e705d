/* Whose a trace's file is: processes that one environment starts are all told the same path, and
 * none of them may write over what another one keeps there. */
#define _GNU_SOURCE /* NOLINT: the C library's name */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/trace/region.h"

#define START_FIELD 22U /* of /proc/PID/stat, counted from 1 */

WCT_PLAIN uint64_t wct_start_of(uint32_t pid) {
  char path[32];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) {
    close(file);
  }
  text[got > 0 ? got : 0] = 0;
  /* The name, in brackets, is the second field and may hold anything. */
  const char* at = strrchr(text, ')');
  if (at != NULL && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)) {
    return 0; /* it has ended, and waits for its parent to ask how */
  }
  for (unsigned field = 2; at != NULL && field < START_FIELD; ++field) {
    at = strchr(at + 1, ' ');
  }
  return at == NULL ? 0 : strtoull(at, NULL, 10);
}

/* The lock tells of processes in other namespaces, and of those that have opened the file but not
 * begun it; the file itself of a program that closed the descriptor, or has called exec since. */
WCT_PLAIN bool wct_is_held(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return true;
  }
  struct wct_file head;
  return pread(descriptor, &head, sizeof head, 0) == (ssize_t)sizeof head &&
         head.magic == WCT_FILE_MAGIC && head.started != 0 &&
         head.started == wct_start_of(head.pid);
}
