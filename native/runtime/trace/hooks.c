/* What the compiler calls at the beginning and at the end of each function. */
#include <stddef.h>
#include <time.h>

#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

_Thread_local struct wct_region* wct_self __attribute__((tls_model("initial-exec")));

/* The stack pointer where the hook was called, but for a constant. */
#if defined(__GNUC__) && !defined(__clang__)
#define WCT_SP() ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())
#else
#define WCT_SP() ((uint64_t)(uintptr_t)__builtin_frame_address(0))
#endif

static WCT_PLAIN WCT_RARE uint64_t nanoseconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static inline WCT_PLAIN uint64_t now(uint32_t clock) {
#if defined(__x86_64__) || defined(__i386__)
  if (WCT_LIKELY(clock == WCT_CLOCK_TICKS)) {
    return __builtin_ia32_rdtsc();
  }
#elif defined(__aarch64__)
  if (WCT_LIKELY(clock == WCT_CLOCK_TICKS)) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  (void)clock;
  return nanoseconds_now();
}

/* Takes a number that no signal handler of this thread takes too. */
static inline WCT_PLAIN uint64_t take_number(uint64_t* count) {
#if defined(__x86_64__)
  uint64_t number = 1; /* one instruction, and no lock: other threads do not write there */
  __asm__ volatile("xaddq %0, %1" : "+r"(number), "+m"(*count));
  return number;
#else
  return __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
#endif
}

/* The lap, in the lower half, is written last: it says that the event is whole. */
static inline WCT_PLAIN void put_time(uint64_t* place, uint64_t time) {
  WCT_BARRIER();
#if UINTPTR_MAX < UINT64_MAX
  typedef uint32_t __attribute__((may_alias)) half;
  const int lower = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 1;
  ((half*)place)[1 - lower] = (uint32_t)(time >> 32U);
  WCT_BARRIER();
  ((half*)place)[lower] = (uint32_t)time;
#else
  *place = time;
#endif
}

static WCT_INLINE void record(struct wct_region* region, uint32_t kind, struct wct_call call,
                              uint64_t depth) {
  const uint64_t number = take_number(&region->count);
  if (WCT_UNLIKELY(number >= region->next_moment)) {
    wct_note_moment(region);
  }
  struct wct_event* const event = wct_ring(region) + (number & region->ring_mask);
  const uint64_t lap = number >> region->ring_shift;
  const uint64_t lap_bits = (lap & ((1U << WCT_LAP_BITS) - 1)) << WCT_KIND_BITS;
  const uint64_t address_mask = ((uint64_t)1 << WCT_ADDRESS_BITS) - 1;
  event->function = (call.function & address_mask) | depth << WCT_ADDRESS_BITS;
  event->call_site = (call.call_site & address_mask) | (depth >> 16U) << WCT_ADDRESS_BITS;
  put_time(&event->time, now(region->clock) << WCT_TIME_SHIFT | lap_bits | kind);
}

/* The state without filters first: that of a program that nobody has told anything. */
static WCT_INLINE void record_if_wanted(struct wct_region* region, uint32_t kind,
                                        struct wct_call call, uint64_t depth) {
  const uint64_t state = region->state & (WCT_MODE_MASK | WCT_FILTERED);
  if (WCT_LIKELY(state == WHOCALL_TRACE_EVENTS) ||
      (state == (WHOCALL_TRACE_EVENTS | WCT_FILTERED) && wct_wants(call.function, depth))) {
    record(region, kind, call, depth);
  }
}

/* Depth of events is that of activations: the first entry of the stack is none. */
static WCT_INLINE void enter_at(struct wct_region* region, struct wct_call call, uint64_t depth,
                                uint64_t cfa) {
  record_if_wanted(region, WCT_ENTER, call, depth - 1);
  struct wct_entry* const entry = wct_stack(region) + depth;
  entry->function = call.function;
  entry->call_site = call.call_site;
  entry->sp = call.sp;
  entry->pc = call.pc;
  entry->cfa = cfa;
  WCT_BARRIER();
  region->depth = depth + 1;
}

static WCT_PLAIN WCT_RARE void enter_after_a_look(struct wct_region* region, struct wct_call call) {
  uint64_t cfa = 0;
  const uint64_t depth = wct_settle_enter(region, &call, &cfa);
  if (depth < region->stack_capacity) {
    enter_at(region, call, depth, cfa);
    return;
  }
  region->overflow = call.end != 0 ? 1 : region->overflow + 1; /* whose ends nobody sees */
  record_if_wanted(region, WCT_ENTER, call, depth + region->overflow - 2);
}

/* As usual the frame ends where that of a function begins which is on the stack. */
static WCT_INLINE void enter(struct wct_region* region, struct wct_call call) {
  const uint64_t depth = region->depth;
  const struct wct_entry* const top = wct_stack(region) + depth - 1;
  const uint64_t cfa = call.end != 0 ? call.end : wct_known_end(region, call);
  const bool is_elsewhere = call.end != 0 && call.above != top->cfa;
  if (WCT_UNLIKELY(depth >= region->stack_capacity || top->sp - cfa >= WCT_NEAR || is_elsewhere)) {
    enter_after_a_look(region, call);
  } else {
    enter_at(region, call, depth, cfa);
  }
}

/* Whether it is `top` that returns. */
static WCT_INLINE bool returns(const struct wct_entry* top, struct wct_call call) {
  return top->sp - call.sp < WCT_NEAR || wct_has_jumped(top, &call);
}

static WCT_INLINE void leave_to(struct wct_region* region, struct wct_call call, uint64_t depth) {
  record_if_wanted(region, WCT_EXIT, call, depth - 1);
  WCT_BARRIER();
  region->depth = depth;
}

static WCT_PLAIN WCT_RARE void leave_after_a_look(struct wct_region* region, struct wct_call call) {
  const uint64_t depth = wct_settle_exit(region, &call);
  if (depth < region->depth) {
    leave_to(region, call, depth);
  } else if (region->overflow != 0) { /* beyond the stack's capacity, else not known */
    record_if_wanted(region, WCT_EXIT, call, depth + region->overflow - 2);
    --region->overflow;
  }
}

static WCT_INLINE void leave(struct wct_region* region, struct wct_call call) {
  const uint64_t depth = region->depth;
  const struct wct_entry* const top = wct_stack(region) + depth - 1;
  if (WCT_UNLIKELY(top->function != call.function || region->overflow != 0 ||
                   !returns(top, call))) {
    leave_after_a_look(region, call);
  } else {
    leave_to(region, call, depth - 1);
  }
}

WCT_PLAIN void wct_record_fork(struct wct_region* region, uint32_t parent) {
  const struct wct_call call = {.call_site = parent};
  record(region, WCT_FORK, call, 0);
}

typedef void (*wct_action)(struct wct_region*, struct wct_call);

/* In a signal handler that interrupted a hook, which may be about to write the next entry: that is
 * put aside until the handler's functions are gone. */
static WCT_PLAIN void begin_nested(struct wct_region* region) {
  const uint64_t depth = region->depth;
  if (region->gap == 0 && depth + 1 < region->stack_capacity) {
    struct wct_entry* const entry = wct_stack(region) + depth;
    region->put_aside = *entry;
    *entry = (struct wct_entry){.sp = UINT64_MAX / 2, .cfa = UINT64_MAX}; /* never gone */
    region->gap = depth;
    region->depth = depth + 1;
  }
}

static WCT_PLAIN void end_nested(struct wct_region* region) {
  if (region->gap != 0 && region->depth <= region->gap + 1) {
    wct_stack(region)[region->gap] = region->put_aside;
    region->depth = region->gap;
    region->gap = 0;
  }
}

/* All that is not as usual: the thread's first call, a shadow stack of before a switch, a signal
 * handler in the middle of a hook. */
static WCT_PLAIN WCT_RARE void act_with_care(wct_action action, struct wct_call call) {
  const uint64_t state = __atomic_load_n(&wct_settings.state, __ATOMIC_RELAXED);
  struct wct_region* const region = wct_self != NULL ? wct_self : wct_register();
  if (region == NULL) {
    return;
  }
  const uint64_t outer = wct_is_interrupted(region->busy, call.sp) ? region->busy : 0;
  region->busy = call.sp;
  WCT_BARRIER();
  if (outer != 0) {
    begin_nested(region);
    action(region, call);
    end_nested(region);
  } else {
    region->gap = 0;
    if (region->state / WCT_GENERATION != state / WCT_GENERATION) {
      region->depth = 1;
      region->overflow = 0;
    }
    region->state = state;
    action(region, call);
  }
  WCT_BARRIER();
  region->busy = outer;
}

static WCT_PLAIN void enter_with_care(struct wct_region* region, struct wct_call call) {
  enter(region, call);
}

static WCT_PLAIN void leave_with_care(struct wct_region* region, struct wct_call call) {
  leave(region, call);
}

static inline WCT_PLAIN bool is_as_usual(const struct wct_region* region) {
  return WCT_LIKELY(region != NULL && region->busy == 0 && region->state == wct_settings.state);
}

static inline WCT_PLAIN bool is_off(void) {
  return (wct_settings.state & WCT_MODE_MASK) == WHOCALL_TRACE_OFF;
}

#if defined(__aarch64__)
#define WCT_RECORD() ((uint64_t) * (const uintptr_t*)__builtin_frame_address(0))
#else
#define WCT_RECORD() 0
#endif

#define WCT_CALL(function_, site_)                                                       \
  {                                                                                      \
    .function = (uintptr_t)(function_), .call_site = (uintptr_t)(site_), .sp = WCT_SP(), \
    .pc = (uintptr_t)__builtin_return_address(0), .record = WCT_RECORD(),                \
  }

/* What is unusual is handed over word by word: a structure would be put together each time. */
static WCT_PLAIN WCT_RARE void begin_with_care(uint64_t function, uint64_t call_site, uint64_t sp,
                                               uint64_t pc, uint64_t record) {
  const struct wct_call call = {
      .function = function, .call_site = call_site, .sp = sp, .pc = pc, .record = record};
  act_with_care(enter_with_care, call);
}

static WCT_INLINE void begin_as_usual(struct wct_region* region, struct wct_call call) {
  region->busy = call.sp;
  WCT_BARRIER();
  enter(region, call);
  WCT_BARRIER();
  region->busy = 0;
}

/* NOLINTNEXTLINE: the compiler's name */
WCT_PLAIN void __cyg_profile_func_enter(void* function, void* call_site) {
  const struct wct_call call = WCT_CALL(function, call_site);
  struct wct_region* const region = wct_self;
  if (is_as_usual(region)) {
    begin_as_usual(region, call);
  } else if (!is_off()) {
    begin_with_care(call.function, call.call_site, call.sp, call.pc, call.record);
  }
}

WCT_PLAIN void wct_enter_alone(uintptr_t function, uintptr_t pc, uintptr_t site,
                               struct wct_ends ends) {
  const struct wct_call call = {.function = function,
                                .call_site = site,
                                .sp = ends.own - ends.least,
                                .pc = pc,
                                .end = ends.own,
                                .above = ends.above,
                                .framed = ends.framed};
  if (is_as_usual(wct_self)) {
    begin_as_usual(wct_self, call);
  } else if (!is_off()) {
    act_with_care(enter_with_care, call);
  }
  if (wct_self != NULL) {
    wct_self->flags = WCT_RETURNS_UNSEEN;
  }
}

static WCT_PLAIN WCT_RARE void end_with_care(uint64_t function, uint64_t call_site, uint64_t sp,
                                             uint64_t pc, uint64_t record) {
  const struct wct_call call = {
      .function = function, .call_site = call_site, .sp = sp, .pc = pc, .record = record};
  act_with_care(leave_with_care, call);
}

/* NOLINTNEXTLINE: the compiler's name */
WCT_PLAIN void __cyg_profile_func_exit(void* function, void* call_site) {
  const struct wct_call call = WCT_CALL(function, call_site);
  struct wct_region* const region = wct_self;
  if (!is_as_usual(region)) {
    if (!is_off()) {
      end_with_care(call.function, call.call_site, call.sp, call.pc, call.record);
    }
    return;
  }
  region->busy = call.sp;
  WCT_BARRIER();
  leave(region, call);
  WCT_BARRIER();
  region->busy = 0;
}
