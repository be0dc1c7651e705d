/* The process: what is begun before main() and after a fork, and what is left at the end. */
#include <stddef.h>
#include <sys/syscall.h>

#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

struct wct_root wct_root __attribute__((aligned(WCT_PAGE))) = {
    .magic = WCT_ROOT_MAGIC,
    .version = WCT_VERSION,
};

/* What leads readers to the root, also in a stripped file. */
__asm__(
    ".pushsection .note.whocall.trace, \"a\", %note\n"
    ".balign 4\n"
    ".long 8, 4, 0x54524143\n"
    ".asciz \"whocall\"\n"
    ".long wct_root - .\n"
    ".balign 4\n"
    ".popsection\n");

/* The child has one thread, and its memory is its own. */
static WCT_PLAIN void begin_child(void) {
  wct_free_filters();
  wct_root.pid = (uint32_t)wct_system(SYS_getpid, 0, 0, 0, 0);
  struct wct_region* region = wct_self;
  wct_root.regions = (uintptr_t)region;
  wct_leave_file();
  region = wct_self;
  if (region == NULL) {
    return;
  }
  const uint32_t parent = region->pid;
  region->next = 0;
  region->pid = wct_root.pid;
  region->tid = (uint32_t)wct_system(SYS_gettid, 0, 0, 0, 0);
  region->first_event = region->count;
  wct_record_fork(region, parent);
}

int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));

static WCT_PLAIN __attribute__((constructor(101))) void begin_process(void) {
  wct_root.pid = (uint32_t)wct_system(SYS_getpid, 0, 0, 0, 0);
  wct_read_environment();
  wct_handle_signal();
  pthread_atfork(NULL, NULL, begin_child);
}

static WCT_PLAIN __attribute__((destructor(101))) void end_process(void) {
  if (wct_self != NULL) {
    wct_note_moment(wct_self);
  }
  wct_write_modules();
}
