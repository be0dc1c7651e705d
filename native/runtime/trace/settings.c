/* What is kept and how much of it: the environment at the start, switches later. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "runtime/privilege.h"
#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

struct wct_settings wct_settings = {
    .state = WCT_GENERATION | WHOCALL_TRACE_EVENTS,
    .clock = WCT_CLOCK_NANOSECONDS,
    .ring_capacity = (uint64_t)1 << 18U,
    .stack_capacity = (uint64_t)1 << 16U,
    .most_regions = sizeof(void*) < 8 ? 64 : 1024, /* each takes 9 MB of addresses */
};

/* Whether the counter runs at one rate, whatever the processor does. */
static WCT_PLAIN bool has_steady_counter(void) {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

/* A number between `least` and 2^32 of the environment; `usual` without one. */
static WCT_PLAIN uint64_t number(const char* name, uint64_t least, uint64_t usual) {
  const char* const text = whocall_setting(name);
  if (text == NULL) {
    return usual;
  }
  char* end = NULL;
  const unsigned long long value = strtoull(text, &end, 0);
  if (*end != 0 || value < least || value > UINT32_MAX) {
    fprintf(stderr, "libwhocall-trace: %s=%s is no number from %llu on; it stays at %llu\n", name,
            text, (unsigned long long)least, (unsigned long long)usual);
    return usual;
  }
  return value;
}

static WCT_PLAIN uint64_t power_of_two(uint64_t least) {
  uint64_t power = 1;
  while (power < least) {
    power *= 2;
  }
  return power;
}

static WCT_PLAIN void read_mode(void) {
  static const char* const kModes[] = {"off", "stacks", "events"};
  const char* const text = whocall_setting("WHOCALL_TRACE");
  if (text == NULL) {
    return;
  }
  for (uint32_t mode = 0; mode < 3; ++mode) {
    if (strcmp(text, kModes[mode]) == 0) {
      whocall_trace_switch((whocall_trace_mode)mode);
      return;
    }
  }
  fprintf(stderr, "libwhocall-trace: WHOCALL_TRACE=%s is none of off, stacks, events\n", text);
}

static WCT_PLAIN void read_names(const char* variable, int (*filter)(const char*)) {
  const char* text = whocall_setting(variable);
  while (text != NULL && *text != 0) {
    char name[256];
    const size_t size = strcspn(text, ",");
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    if (*name != 0 && filter(name) != 0) {
      fprintf(stderr,
              "libwhocall-trace: %s: no loaded file and no exported function is called %s\n",
              variable, name);
    }
    text += size + (text[size] == ',');
  }
}

WCT_PLAIN void wct_read_environment(void) {
  const char* const clock = whocall_setting("WHOCALL_TRACE_CLOCK");
  const bool asked = clock != NULL && strcmp(clock, "monotonic") == 0;
  wct_settings.clock = !asked && has_steady_counter() ? WCT_CLOCK_TICKS : WCT_CLOCK_NANOSECONDS;
  wct_settings.ring_capacity =
      power_of_two(number("WHOCALL_TRACE_EVENTS", 16, wct_settings.ring_capacity));
  wct_settings.stack_capacity = number("WHOCALL_TRACE_STACK", 16, wct_settings.stack_capacity);
  wct_settings.most_regions = number("WHOCALL_TRACE_THREADS", 1, wct_settings.most_regions);
  const uint64_t depth = number("WHOCALL_TRACE_DEPTH", 0, UINT32_MAX);
  if (depth != UINT32_MAX) {
    whocall_trace_depth((uint32_t)depth);
  }
  read_names("WHOCALL_TRACE_ONLY", whocall_trace_only_name);
  read_names("WHOCALL_TRACE_SKIP", whocall_trace_skip_name);
  const char* const file = whocall_setting("WHOCALL_TRACE_FILE");
  if (file != NULL) {
    wct_open_file(file);
  }
  read_mode();
}

WCT_PLAIN whocall_trace_mode whocall_trace_switch(whocall_trace_mode mode) {
  mode = (unsigned)mode > WHOCALL_TRACE_EVENTS ? WHOCALL_TRACE_EVENTS : mode;
  uint64_t was = __atomic_load_n(&wct_settings.state, __ATOMIC_RELAXED);
  uint64_t becomes;
  do {
    becomes = (was & ~WCT_MODE_MASK) | (uint64_t)mode;
    if ((was & WCT_MODE_MASK) == WHOCALL_TRACE_OFF && mode != WHOCALL_TRACE_OFF) {
      becomes += WCT_GENERATION;
    }
  } while (!__atomic_compare_exchange_n(&wct_settings.state, &was, becomes, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
  return (whocall_trace_mode)(was & WCT_MODE_MASK);
}

WCT_PLAIN size_t whocall_trace_stack(whocall_trace_call* calls, size_t count) {
  const struct wct_region* const region = wct_self;
  if (region == NULL) {
    return 0;
  }
  const struct wct_entry* const stack = wct_stack(region);
  size_t found = 0;
  for (uint64_t at = region->depth - 1; at > 0; --at) {
    if (stack[at].function == 0) {
      continue;
    }
    if (found < count) {
      calls[found] = (whocall_trace_call){(void*)(uintptr_t)stack[at].function,
                                          (void*)(uintptr_t)stack[at].call_site};
    }
    ++found;
  }
  return found;
}

WCT_PLAIN uint64_t whocall_trace_count(void) { return wct_self == NULL ? 0 : wct_self->count; }
