/* Where regions lie: in anonymous memory, or in a file that outlives the process. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/trace/region.h"

#define MODULES_CAPACITY ((uint64_t)1 << 20U)
#define HEAD ((uint64_t)65536)

static struct wct_file* head; /* of the file; NULL: there is none */
static int descriptor = -1;
static char path_pattern[200];

static WCT_PLAIN void* take_anonymous(uint64_t size) {
  void* const made =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

/* The file grows by a byte at its end: two threads that do so at once do not cut it off. */
static WCT_PLAIN void* take_of_file(uint64_t size) {
  const uint64_t begin = __atomic_fetch_add(&head->used, size, __ATOMIC_RELAXED);
  if (pwrite(descriptor, "", 1, (off_t)(begin + size - 1)) != 1) {
    return NULL;
  }
  void* const made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)begin);
  return made == MAP_FAILED ? NULL : made;
}

WCT_PLAIN void* wct_take_memory(uint64_t size) {
  void* const made = head != NULL ? take_of_file(size) : NULL;
  return made != NULL ? made : take_anonymous(size);
}

static WCT_PLAIN void expand(char* path, size_t size, const char* pattern) {
  size_t used = 0;
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

static WCT_PLAIN bool begin_file(const char* path) {
  descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return false;
  }
  const uint64_t size = HEAD + MODULES_CAPACITY;
  if (pwrite(descriptor, "", 1, (off_t)(size - 1)) != 1) {
    return false;
  }
  void* const made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (made == MAP_FAILED) {
    return false;
  }
  struct utsname system;
  struct wct_file* const begun = made;
  begun->version = WCT_VERSION;
  begun->pid = wct_root.pid;
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
  if (pattern != path_pattern) {
    snprintf(path_pattern, sizeof path_pattern, "%s", pattern);
  }
  expand(wct_root.file, sizeof wct_root.file, path_pattern);
  if (!begin_file(wct_root.file)) {
    fprintf(stderr, "libwhocall-trace: cannot write %s; the trace is kept in memory alone\n",
            wct_root.file);
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

WCT_PLAIN void wct_leave_file(void) {
  if (head == NULL) {
    return;
  }
  head = NULL;
  close(descriptor);
  const bool has_own = strstr(path_pattern, "%p") != NULL;
  wct_root.file[0] = 0;
  if (has_own) {
    wct_open_file(path_pattern);
  }
  const struct wct_region* const old = wct_self;
  if (old == NULL) {
    return;
  }
  struct wct_region* const fresh = wct_take_memory(old->size);
  if (fresh != NULL) {
    memcpy(fresh, old, (size_t)(old->stack_offset + old->depth * sizeof(struct wct_entry)));
    fresh->address = (uintptr_t)fresh;
  }
  wct_self = fresh;
  wct_root.regions = (uintptr_t)fresh;
}
