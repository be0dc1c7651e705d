/* Of which functions there are events. */
#define _GNU_SOURCE /* NOLINT: the C library's name */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

#define MOST_FILTERS 32U

struct range {
  uint64_t begin;
  uint64_t end;
};

/* Written before the count, read after it: hooks of other threads see whole ranges. */
struct filters {
  struct range ranges[MOST_FILTERS];
  uint32_t count;
};
static struct filters only;
static struct filters skip;
static uint64_t most_depth = UINT32_MAX;
static uint32_t busy; /* somebody adds a filter */

static WCT_PLAIN bool contains(const struct filters* filters, uint64_t function) {
  const uint32_t count = __atomic_load_n(&filters->count, __ATOMIC_ACQUIRE);
  for (uint32_t at = 0; at < count; ++at) {
    const struct range* const range = &filters->ranges[at];
    if (function - range->begin < range->end - range->begin) {
      return true;
    }
  }
  return false;
}

WCT_PLAIN bool wct_wants(uint64_t function, uint64_t depth) {
  const bool all = __atomic_load_n(&only.count, __ATOMIC_RELAXED) == 0;
  return depth <= most_depth && (all || contains(&only, function)) && !contains(&skip, function);
}

/* Its caller sees to it that no two threads are here at once: the lock may be held by one that a
 * signal interrupted, and then the filter is refused. So it is when all filters were forgotten
 * meanwhile, as what was forgotten would come back. */
static WCT_PLAIN int add(struct filters* filters, uint64_t begin, uint64_t end) {
  if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) != 0) {
    return -1;
  }
  uint32_t count = __atomic_load_n(&filters->count, __ATOMIC_RELAXED);
  bool is_added = false;
  if (count < MOST_FILTERS) {
    filters->ranges[count] = (struct range){begin, end};
    is_added = __atomic_compare_exchange_n(&filters->count, &count, count + 1, false,
                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    __atomic_or_fetch(&wct_settings.state, WCT_FILTERED, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
  return is_added ? 0 : -1;
}

WCT_PLAIN void wct_free_filters(void) { __atomic_store_n(&busy, 0, __ATOMIC_RELEASE); }

/* Whether `path` is `name` or ends with it behind a slash. */
static WCT_PLAIN bool ends_so(const char* path, const char* name) {
  const size_t path_size = strlen(path);
  const size_t name_size = strlen(name);
  return name_size <= path_size && strcmp(path + path_size - name_size, name) == 0 &&
         (name_size == path_size || path[path_size - name_size - 1] == '/');
}

struct search {
  const char* name;
  struct range found;
  const char* program;
};

static WCT_PLAIN int look_at(struct dl_phdr_info* module, size_t size, void* data) {
  (void)size;
  struct search* const search = data;
  const char* const path = module->dlpi_name[0] != 0 ? module->dlpi_name : search->program;
  if (!ends_so(path, search->name)) {
    return 0;
  }
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (int at = 0; at < module->dlpi_phnum; ++at) {
    const ElfW(Phdr)* const header = &module->dlpi_phdr[at];
    if (header->p_type == PT_LOAD) {
      const uint64_t first = module->dlpi_addr + header->p_vaddr;
      begin = first < begin ? first : begin;
      end = first + header->p_memsz > end ? first + header->p_memsz : end;
    }
  }
  search->found = (struct range){begin, end};
  return 1;
}

static WCT_PLAIN int add_name(struct filters* filters, const char* name) {
  char program[4096];
  const long size = readlink("/proc/self/exe", program, sizeof program - 1);
  program[size > 0 ? size : 0] = 0;
  struct search search = {.name = name, .program = program};
  if (dl_iterate_phdr(look_at, &search) != 0) {
    return add(filters, search.found.begin, search.found.end);
  }
  const uint64_t function = (uintptr_t)dlsym(RTLD_DEFAULT, name);
  return function == 0 ? -1 : add(filters, function, function + 1);
}

WCT_PLAIN int whocall_trace_only(const void* begin, const void* end) {
  return add(&only, (uintptr_t)begin, (uintptr_t)end);
}

WCT_PLAIN int whocall_trace_skip(const void* begin, const void* end) {
  return add(&skip, (uintptr_t)begin, (uintptr_t)end);
}

WCT_PLAIN int whocall_trace_only_name(const char* name) { return add_name(&only, name); }

WCT_PLAIN int whocall_trace_skip_name(const char* name) { return add_name(&skip, name); }

WCT_PLAIN void whocall_trace_depth(uint32_t depth) {
  most_depth = depth;
  __atomic_or_fetch(&wct_settings.state, WCT_FILTERED, __ATOMIC_RELEASE);
}

WCT_PLAIN void whocall_trace_everything(void) {
  __atomic_and_fetch(&wct_settings.state, ~WCT_FILTERED, __ATOMIC_RELEASE);
  most_depth = UINT32_MAX;
  __atomic_store_n(&only.count, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&skip.count, 0, __ATOMIC_RELEASE);
}
