/* Regions of threads: made at a thread's first call of a hook, kept when it ends, for readers. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

_Static_assert(sizeof(struct wct_region) % 64 == 0, "hooks' fields in a line of the cache");
_Static_assert(offsetof(struct wct_region, busy) % 64 == 0, "hooks' fields in a line of the cache");

static _Thread_local bool registering __attribute__((tls_model("initial-exec")));

WCT_PLAIN long wct_system(long number, long first, long second, long third, long fourth) {
  const int kept = errno;
  const long result = syscall(number, first, second, third, fourth);
  const long answer = result == -1 ? -errno : result;
  errno = kept;
  return answer;
}

static WCT_PLAIN uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static WCT_PLAIN struct wct_moment moment(void) {
  struct wct_moment made;
#if defined(__x86_64__) || defined(__i386__)
  made.ticks = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(made.ticks));
#else
  made.ticks = 0;
#endif
  made.nanoseconds = nanoseconds(CLOCK_MONOTONIC);
  return made;
}

/* After 1, 2, 4... events, and every thousand. */
WCT_PLAIN void wct_note_moment(struct wct_region* region) {
  const uint64_t next = region->next_moment;
  region->next_moment = next + (next < 1024 ? next + 1 : 1024);
  region->latest = moment();
}

static WCT_PLAIN uint64_t region_size(void) {
  const uint64_t size = sizeof(struct wct_region) +
                        wct_settings.stack_capacity * sizeof(struct wct_entry) +
                        wct_settings.ring_capacity * sizeof(struct wct_event);
  const uint64_t page = 65536; /* the largest page in use, which files and mappings begin on */
  return (size + page - 1) / page * page;
}

static WCT_PLAIN void begin(struct wct_region* region, uint64_t size) {
  region->version = WCT_VERSION;
  region->header_size = sizeof(struct wct_region);
  region->size = size;
  region->address = (uintptr_t)region;
  region->pid = (uint32_t)wct_system(SYS_getpid, 0, 0, 0, 0);
  region->tid = (uint32_t)wct_system(SYS_gettid, 0, 0, 0, 0);
  region->serial = __atomic_add_fetch(&wct_root.serial, 1, __ATOMIC_RELAXED);
  region->clock = wct_settings.clock;
  region->entry_size = sizeof(struct wct_entry);
  region->event_size = sizeof(struct wct_event);
  region->stack_offset = sizeof(struct wct_region);
  region->stack_capacity = wct_settings.stack_capacity;
  region->ring_capacity = wct_settings.ring_capacity;
  region->ring_mask = wct_settings.ring_capacity - 1;
  region->ring_shift = (uint64_t)__builtin_ctzll(wct_settings.ring_capacity);
  region->ring_offset =
      region->stack_offset + wct_settings.stack_capacity * sizeof(struct wct_entry);
  region->depth = 1;
  wct_stack(region)->sp = UINT64_MAX / 2; /* near no frame */
  region->state = wct_settings.state;
  region->began = moment();
  region->latest = region->began;
  region->began_realtime = nanoseconds(CLOCK_REALTIME);
  wct_system(SYS_prctl, PR_GET_NAME, (long)(intptr_t)region->name, 0, 0);
  WCT_BARRIER();
  region->magic = WCT_REGION_MAGIC;
}

static WCT_PLAIN bool has_ended(const struct wct_region* region) {
  return wct_system(SYS_tgkill, (long)region->pid, (long)region->tid, 0, 0) == -ESRCH;
}

/* The region that was registered next after the one with that number; NULL: there is none. */
static WCT_PLAIN struct wct_region* registered_after(uint64_t serial) {
  struct wct_region* found = NULL;
  uint64_t at = __atomic_load_n(&wct_root.regions, __ATOMIC_ACQUIRE);
  while (at != 0) {
    struct wct_region* const region = (struct wct_region*)(uintptr_t)at;
    if (region->serial > serial && (found == NULL || region->serial < found->serial)) {
      found = region;
    }
    at = region->next;
  }
  return found;
}

/* An event that is being written must not be taken for one of the lap before, of a thread that is
 * no more. */
static WCT_PLAIN void clean(struct wct_region* region) {
  const uint64_t next = region->next;
  const uint64_t used = region->count;
  const uint64_t kept = used < region->ring_capacity ? used : region->ring_capacity;
  memset(wct_ring(region), 0, (size_t)(kept * sizeof(struct wct_event)));
  memset(region, 0, sizeof *region);
  region->next = next;
}

/* Takes the region of a thread that has ended. (Sizes differ where one began before the environment
 * was read.) */
static WCT_PLAIN bool take(struct wct_region* region, uint64_t size) {
  uint64_t magic = WCT_REGION_MAGIC;
  if (region->size != size || !has_ended(region) ||
      !__atomic_compare_exchange_n(&region->magic, &magic, 0, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return false;
  }
  clean(region);
  return true;
}

/* Memory of an ended thread; NULL: there is none. The threads that began first are asked first, so
 * that the latest history stays; those that are found alive not again before all others. */
static WCT_PLAIN struct wct_region* take_over(uint64_t size) {
  static const int kTries = 16;
  static uint64_t asked; /* number of registration */
  uint64_t serial = __atomic_load_n(&asked, __ATOMIC_RELAXED);
  for (int at = 0; at < kTries; ++at) {
    struct wct_region* const region = registered_after(serial);
    if (region == NULL) {
      break;
    }
    serial = region->serial;
    if (take(region, size)) {
      __atomic_store_n(&asked, serial, __ATOMIC_RELAXED);
      return region;
    }
  }
  __atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
  uint64_t at = __atomic_load_n(&wct_root.regions, __ATOMIC_ACQUIRE);
  while (at != 0) {
    struct wct_region* const region = (struct wct_region*)(uintptr_t)at;
    if (take(region, size)) {
      return region;
    }
    at = region->next;
  }
  return NULL;
}

static WCT_PLAIN void put_to_the_others(struct wct_region* region) {
  uint64_t first = __atomic_load_n(&wct_root.regions, __ATOMIC_RELAXED);
  do {
    region->next = first;
  } while (!__atomic_compare_exchange_n(&wct_root.regions, &first, (uint64_t)(uintptr_t)region,
                                        true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

WCT_PLAIN struct wct_region* wct_register(void) {
  if (registering) { /* a signal handler in the middle of what follows, or no memory */
    return NULL;
  }
  registering = true;
  const int kept = errno;
  const uint64_t size = region_size();
  const bool is_full =
      __atomic_load_n(&wct_root.serial, __ATOMIC_RELAXED) >= wct_settings.most_regions;
  struct wct_region* region = is_full ? take_over(size) : NULL;
  bool is_new = false;
  if (region == NULL) {
    region = wct_take_memory(size);
    is_new = region != NULL;
  }
  if (region == NULL) { /* no address space is left, say */
    region = take_over(size);
  }
  errno = kept;
  if (region == NULL) { /* `registering` stays: this thread is not asked again */
    __atomic_add_fetch(&wct_root.lost_threads, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  begin(region, size);
  if (is_new) {
    put_to_the_others(region);
  }
  wct_self = region;
  registering = false;
  return region;
}
