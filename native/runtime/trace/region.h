/* The library's own view of a thread's region, and what its parts know of each other. */
#ifndef WHOCALL_RUNTIME_TRACE_REGION_H
#define WHOCALL_RUNTIME_TRACE_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/trace/layout.h"

/* On everything: a hook that called hooks would not end. */
#define WCT_PLAIN __attribute__((no_instrument_function))
/* What hooks do each time: calls and copies of arguments would double it. */
#define WCT_INLINE inline __attribute__((always_inline, no_instrument_function))
#define WCT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define WCT_RARE __attribute__((noinline, cold))
#define WCT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Signal handlers run between any two instructions of a thread, other threads do not matter. */
#define WCT_BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* A frame's and its caller's stack pointers lie closer together than this, as a rule; else
 * wct_settle looks closer. */
#define WCT_NEAR ((uint64_t)1 << 14)

/* A word of what hooks ask for each time: the mode, whether wct_wants has to be asked, and above
 * both the generation of shadow stacks, which rises when they begin anew. */
#define WCT_MODE_MASK ((uint64_t)3)
#define WCT_FILTERED ((uint64_t)4)
#define WCT_GENERATION ((uint64_t)8)

#pragma GCC visibility push(hidden)

struct wct_settings {
  uint64_t state;
  uint32_t clock;
  uint64_t ring_capacity; /* events */
  uint64_t stack_capacity;
  uint64_t most_regions;
};
extern struct wct_settings wct_settings;

/* A call of a hook. */
struct wct_call {
  uint64_t function;
  uint64_t call_site;
  uint64_t sp;
  uint64_t pc;     /* where the hook returns to */
  uint64_t record; /* of the function's frame, on AArch64 */
  uint64_t end;    /* where its frame ends; 0: to be found out */
  uint64_t above;  /* beside `end`: where that of its caller does, if that keeps frame pointers */
  bool framed;     /* all of them do */
};

extern _Thread_local struct wct_region* wct_self __attribute__((tls_model("initial-exec")));

static inline WCT_PLAIN struct wct_entry* wct_stack(const struct wct_region* region) {
  return (struct wct_entry*)((uintptr_t)region + sizeof(struct wct_region));
}
static inline WCT_PLAIN struct wct_event* wct_ring(const struct wct_region* region) {
  return (struct wct_event*)((uintptr_t)region + (uintptr_t)region->ring_offset);
}

/* The frame size of the function whose hook returns to `pc`, or of another. */
static inline WCT_PLAIN struct wct_frame_size* wct_size_of(struct wct_region* region, uint64_t pc) {
  return &region->frame_sizes[(pc >> 2U) % WCT_FRAME_SIZES];
}

/* Where the frame of the function that called the hook ends; 0: wct_settle_enter has to look. A
 * function's stack pointer at its hook is always as far below its return address, which stands at
 * the frame's end; on AArch64 the function's frame record holds the address of its caller's. */
static inline WCT_PLAIN uint64_t wct_known_end(struct wct_region* region, struct wct_call call) {
#if defined(__aarch64__)
  (void)region;
  const bool is_record = call.record % 16 == 0 && call.record - call.sp < WCT_NEAR;
  return is_record ? *(const uintptr_t*)(uintptr_t)call.record : 0;
#else
  const struct wct_frame_size* const known = wct_size_of(region, call.pc);
  if (known->pc != call.pc) {
    return 0;
  }
  const uint64_t end = call.sp + known->size;
  return *((const uintptr_t*)(uintptr_t)end - 1) == call.call_site ? end : 0;
#endif
}

/* Whether the function of `entry` jumped to the hook, as its last act: then its frame is gone
 * already, and the hook returns to its caller. */
static inline WCT_PLAIN bool wct_has_jumped(const struct wct_entry* entry,
                                            const struct wct_call* call) {
#if defined(__aarch64__)
  const uint64_t end = call->record; /* the caller's */
#else
  const uint64_t end = call->sp;
#endif
  return call->pc == call->call_site && end == entry->cfa;
}

/* threads.c: the calling thread's region, made at its first call of a hook; NULL: there is none. */
struct wct_region* wct_register(void);
/* Notes what both clocks say, and when to do so again. */
void wct_note_moment(struct wct_region* region);

/* hooks.c: the first event of a child process. */
void wct_record_fork(struct wct_region* region, uint32_t parent);

/* The same for hooks at beginnings alone: a function that a hook returns into at `pc`, whose caller
 * goes on at `site`. */
struct wct_ends {
  uintptr_t own;   /* where its frame ends */
  uintptr_t above; /* where its caller's does, if that keeps frame pointers; else that of one that
                      does, whose frame is there still, or anything */
  uintptr_t least; /* bytes of its frame that its first instructions take, the return address among
                      them */
  bool framed;     /* all functions with hooks keep frame pointers */
};
void wct_enter_alone(uintptr_t function, uintptr_t pc, uintptr_t site, struct wct_ends ends);

/* filters.c: in the child after a fork, which may have come in the middle of adding one. */
void wct_free_filters(void);
/* Whether a call of this function at this depth is to have events. */
bool wct_wants(uint64_t function, uint64_t depth);

/* settle.c: how many entries stay below a new one, and where its frame ends: drops those that were
 * left without a return. */
uint64_t wct_settle_enter(struct wct_region* region, const struct wct_call* call, uint64_t* cfa);
/* Whether a page is there. */
bool wct_can_be_read(uint64_t address);
/* Whether the hook that began with its stack pointer at `busy` (0: none) was interrupted by a
 * signal whose handler has its own at `sp` now. */
bool wct_is_interrupted(uint64_t busy, uint64_t sp);
/* How many stay after a return; as many as there were when it is none of an activation known. */
uint64_t wct_settle_exit(struct wct_region* region, const struct wct_call* call);

/* file.c: memory for a region, in a file or not; NULL: none. */
void* wct_take_memory(uint64_t size);
/* `pattern` is a path with %p for the process id. */
void wct_open_file(const char* pattern);
void wct_leave_file(void); /* in the child after a fork: a file of its own, or none */
void wct_write_modules(void);

/* holder.c: whether the file, which is open, is a trace that a living process still writes, this
 * one before it called exec among them. Else it is this process's from now on, until it ends. */
bool wct_is_held(int descriptor);
/* When a living process began, in the kernel's clock ticks since boot; 0: not known. */
uint64_t wct_start_of(uint32_t pid);

/* process.c: what leads to all regions. */
extern struct wct_root wct_root;

/* settings.c */
void wct_read_environment(void);

/* switch_signal.c: from now on the signal that the environment names switches to events, and back
 * to what holds now; where that is events, to shadow stacks alone, and back. */
void wct_handle_signal(void);

/* System calls that leave errno as it is. */
long wct_system(long number, long first, long second, long third, long fourth);

#pragma GCC visibility pop

#endif
