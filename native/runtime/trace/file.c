/* Where regions lie: in anonymous memory, or in a file that outlives the process. */
#define _GNU_SOURCE /* NOLINT: the C library's name */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/privilege.h"
#include "runtime/trace/region.h"

#define MODULES_CAPACITY ((uint64_t)1 << 20U)
#define HEAD ((uint64_t)65536)
#define MOST_HELD 1000U /* names that are tried */

static struct wct_file* head; /* of the file; NULL: there is none */
static int descriptor = -1;
static dev_t device; /* with `inode`: which file it is */
static ino_t inode;
static char path_pattern[200];

static WCT_PLAIN void* take_anonymous(uint64_t size) {
  void* const made =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

static WCT_PLAIN bool is_the_file(int candidate) {
  struct stat found;
  return candidate >= 0 && fstat(candidate, &found) == 0 && found.st_dev == device &&
         found.st_ino == inode;
}

/* Programs close descriptors that they do not know (daemons do), and open files of their own under
 * the same numbers: nothing may be written there. -1: there is no way to the file any more. */
static WCT_PLAIN int way_to_file(void) {
  if (is_the_file(descriptor)) {
    return descriptor;
  }
  const int again = whocall_open_present(wct_root.file, O_RDWR, WHOCALL_OUTPUT_FILE);
  if (is_the_file(again)) {
    descriptor = again;
    return again;
  }
  if (again >= 0) {
    close(again);
  }
  return -1;
}

/* The file grows by a byte at its end: two threads that do so at once do not cut it off. */
static WCT_PLAIN void* take_of_file(uint64_t size) {
  const int way = way_to_file();
  if (way < 0) {
    return NULL;
  }
  const uint64_t begin = __atomic_fetch_add(&head->used, size, __ATOMIC_RELAXED);
  if (pwrite(way, "", 1, (off_t)(begin + size - 1)) != 1) {
    return NULL;
  }
  void* const made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, way, (off_t)begin);
  return made == MAP_FAILED ? NULL : made;
}

WCT_PLAIN void* wct_take_memory(uint64_t size) {
  void* const made = head != NULL ? take_of_file(size) : NULL;
  return made != NULL ? made : take_anonymous(size);
}

/* Absolute, where that has room: programs go to other directories. */
static WCT_PLAIN void expand(char* path, size_t size, const char* pattern) {
  size_t used = 0;
  if (*pattern != '/' && getcwd(path, size - strlen(pattern) - 1) != NULL) {
    used = strlen(path);
    path[used++] = '/';
  }
  for (; *pattern != 0 && used + 12 < size; ++pattern) {
    if (pattern[0] == '%' && pattern[1] == 'p') {
      used += (size_t)snprintf(path + used, size - used, "%u", wct_root.pid);
      ++pattern;
    } else {
      path[used++] = *pattern;
    }
  }
  path[used] = 0;
}

/* Opens wct_root.file, or where another process's trace lies there, or this one's from before it
 * called exec, the first of the names with ".1", ".2" and so on behind it that is free. */
static WCT_PLAIN int open_free_file(void) {
  char* const number = wct_root.file + strlen(wct_root.file);
  const size_t room = sizeof wct_root.file - (size_t)(number - wct_root.file);
  for (unsigned turn = 1; turn <= MOST_HELD; ++turn) {
    const int file = whocall_open_output(wct_root.file, O_RDWR, WHOCALL_OUTPUT_FILE);
    if (file < 0 || !wct_is_held(file)) {
      return file;
    }
    close(file);
    if ((size_t)snprintf(number, room, ".%u", turn) >= room) {
      errno = ENAMETOOLONG;
      return -1;
    }
  }
  errno = EEXIST;
  return -1;
}

/* Its first pages; NULL, with errno: it cannot be had. */
static WCT_PLAIN struct wct_file* make_file(uint64_t size) {
  struct stat made;
  descriptor = open_free_file();
  if (descriptor < 0) {
    return NULL;
  }
  void* memory = MAP_FAILED;
  if (fstat(descriptor, &made) == 0 && ftruncate(descriptor, 0) == 0 &&
      pwrite(descriptor, "", 1, (off_t)(size - 1)) == 1) {
    device = made.st_dev;
    inode = made.st_ino;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (memory == MAP_FAILED) {
    const int kept = errno;
    close(descriptor);
    descriptor = -1;
    errno = kept;
    return NULL;
  }
  return memory;
}

static WCT_PLAIN bool begin_file(void) {
  const uint64_t size = HEAD + MODULES_CAPACITY;
  struct utsname system;
  struct wct_file* const begun = make_file(size);
  if (begun == NULL) {
    return false;
  }
  begun->version = WCT_VERSION;
  begun->pid = wct_root.pid;
  begun->started = wct_start_of(wct_root.pid);
  begun->modules_offset = HEAD;
  begun->modules_capacity = MODULES_CAPACITY;
  begun->used = size;
  begun->pointer_size = sizeof(void*);
  if (uname(&system) == 0) {
    snprintf(begun->machine, sizeof begun->machine, "%.23s", system.machine);
  }
  begun->magic = WCT_FILE_MAGIC;
  head = begun;
  return true;
}

WCT_PLAIN void wct_open_file(const char* pattern) {
  if (strlen(pattern) >= sizeof path_pattern) {
    fprintf(stderr,
            "libwhocall-trace: the path of the trace's file has more than %zu bytes; the trace is "
            "kept in memory alone\n",
            sizeof path_pattern - 1);
    return;
  }
  if (pattern != path_pattern) {
    strcpy(path_pattern, pattern);
  }
  expand(wct_root.file, sizeof wct_root.file, path_pattern);
  if (!begin_file()) {
    fprintf(stderr, "libwhocall-trace: cannot write %s (%s); the trace is kept in memory alone\n",
            wct_root.file, strerror(errno));
    wct_root.file[0] = 0;
    return;
  }
  wct_write_modules();
}

WCT_PLAIN void wct_write_modules(void) {
  if (head == NULL) {
    return;
  }
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) {
    return;
  }
  char* const text = (char*)head + head->modules_offset;
  uint64_t used = 0;
  while (used < head->modules_capacity) {
    const ssize_t got = read(maps, text + used, head->modules_capacity - used);
    if (got <= 0) {
      break;
    }
    used += (uint64_t)got;
  }
  close(maps);
  head->modules_size = used;
}

/* In the place of the parent's: where fork() is called in a signal handler that interrupted a hook,
 * that hook goes on with the region that it knows. */
static WCT_PLAIN bool move_to_own_memory(struct wct_region* region) {
  const size_t size = (size_t)region->size;
  struct wct_region* const fresh = wct_take_memory(size);
  if (fresh == NULL) {
    return false;
  }
  /* With an entry that a hook may be about to write, or has put aside. */
  const uint64_t entries = region->depth + (region->depth < region->stack_capacity ? 1 : 0);
  memcpy(fresh, region, (size_t)(region->stack_offset + entries * sizeof(struct wct_entry)));
  return mremap(fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, region) != MAP_FAILED;
}

WCT_PLAIN void wct_leave_file(void) {
  if (head == NULL) {
    return;
  }
  head = NULL;
  if (is_the_file(descriptor)) {
    close(descriptor);
  }
  descriptor = -1;
  const bool has_own = strstr(path_pattern, "%p") != NULL;
  wct_root.file[0] = 0;
  if (has_own) {
    wct_open_file(path_pattern);
  }
  if (wct_self != NULL && !move_to_own_memory(wct_self)) {
    wct_self = NULL;
    wct_root.regions = 0;
  }
}
