/* Activations that were left without a return: by longjmp, by an exception, by the end of a
 * coroutine. They are known by their stack pointers: what lies below that of a function that begins
 * or returns now is gone. */
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "runtime/trace/region.h"

/* The signal stack of the thread, if it has one. */
struct other_stack {
  uint64_t begin;
  uint64_t size; /* 0: none */
};

static WCT_PLAIN struct other_stack signal_stack(void) {
  stack_t stack = {0};
  if (wct_system(SYS_sigaltstack, 0, (long)(intptr_t)&stack, 0, 0) != 0 ||
      (stack.ss_flags & SS_DISABLE) != 0) {
    return (struct other_stack){0, 0};
  }
  return (struct other_stack){(uintptr_t)stack.ss_sp, stack.ss_size};
}

static WCT_PLAIN bool on(const struct other_stack* stack, uint64_t sp) {
  return sp - stack->begin < stack->size;
}

/* A hook whose frame lies below was left by a jump out of a signal handler; but a stack for signals
 * may lie above that of the thread. */
WCT_PLAIN bool wct_is_interrupted(uint64_t busy, uint64_t sp) {
  if (busy == 0) {
    return false;
  }
  const struct other_stack signals = signal_stack();
  const bool busy_on = on(&signals, busy);
  const bool now_on = on(&signals, sp);
  return busy_on == now_on ? busy > sp : now_on;
}

/* Bytes between two frames: from the first on they may lie on two stacks, from the other on they
 * do. A stack for signals may lie nearer, right above that of a thread that was made after it: so
 * where it was seen is kept in the region. */
static const uint64_t kFar = (uint64_t)1 << 18U;
static const uint64_t kVeryFar = (uint64_t)1 << 26U;

/* Bytes that a frame may have given back since its hook was called: arguments on the stack. */
#define SLACK ((uint64_t)16)
#define MOST_COMPARED ((uint64_t)64)     /* entries */
#define LONGEST_PROLOGUE ((uint64_t)256) /* bytes of code before the hook is called */

#define MASK_SIZE (_NSIG / 8) /* bytes, of the kernel's masks of signals */

/* The kernel copies a mask of signals from there. It is a mask for a moment. */
WCT_PLAIN bool wct_can_be_read(uint64_t address) {
  uint64_t before[2] = {0, 0}; /* MIPS has 128 signals */
  const uint64_t mask = address & ~(uint64_t)(MASK_SIZE - 1);
  if (wct_system(SYS_rt_sigprocmask, SIG_BLOCK, (long)mask, (long)(intptr_t)before, MASK_SIZE) !=
      0) {
    return false;
  }
  wct_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)(intptr_t)before, 0, MASK_SIZE);
  return true;
}

#if !defined(__aarch64__)
#define MOST_SCANNED ((uint64_t)1 << 24U) /* bytes of a frame */

#if defined(__i386__)
#define ARGUMENTS (2 * sizeof(void*)) /* of the hook: the call site is one of them */
#else
#define ARGUMENTS 0
#endif

static WCT_PLAIN bool ends_at(const struct wct_call* call, uint64_t end) {
  return *((const uintptr_t*)(uintptr_t)end - 1) == call->call_site;
}

static WCT_PLAIN uint64_t remembered(struct wct_region* region, const struct wct_call* call,
                                     uint64_t end) {
  struct wct_frame_size* const known = wct_size_of(region, call->pc);
  known->size = end - call->sp;
  known->pc = call->pc;
  return end;
}
#endif

/* Where the frame of the function that called the hook ends: behind its return address. That stands
 * right below the stack pointer of an instrumented caller, or else further up; words that were left
 * in the frame may be mistaken for it, but not for long, as where it stands does not change. It
 * stands nowhere where a program calls the hooks by itself: then the stack's end ends the search.
 */
static WCT_PLAIN uint64_t end_of_frame(struct wct_region* region, const struct wct_call* call) {
  const uint64_t known = wct_known_end(region, *call);
  if (known != 0) {
    return known;
  }
#if !defined(__aarch64__)
  const uint64_t top = wct_stack(region)[region->depth - 1].sp;
  if (top - call->sp - 1 < WCT_NEAR && ends_at(call, top)) {
    return remembered(region, call, top);
  }
  for (uint64_t at = call->sp + ARGUMENTS; at - call->sp < MOST_SCANNED; at += sizeof(uintptr_t)) {
    if (at % WCT_PAGE < sizeof(uintptr_t) && !wct_can_be_read(at)) {
      break;
    }
    if (ends_at(call, at + sizeof(uintptr_t))) {
      return remembered(region, call, at + sizeof(uintptr_t));
    }
  }
#endif
  return call->sp + sizeof(uintptr_t);
}

/* Whether the frame of an entry is gone when one at `sp` that ends at `cfa` runs. */
static WCT_PLAIN bool is_gone(struct wct_region* region, const struct wct_entry* entry, uint64_t sp,
                              uint64_t cfa) {
  const bool below = entry->cfa < cfa || entry->sp + SLACK < cfa;
  const bool is_far = entry->sp - sp + kFar > 2 * kFar;
  const struct other_stack seen = {region->signals_begin, region->signals_size};
  if (!below && !is_far && on(&seen, entry->sp) == on(&seen, sp)) {
    return false;
  }
  const struct other_stack signals = signal_stack();
  region->signals_begin = signals.begin;
  region->signals_size = signals.size;
  const bool entry_on = on(&signals, entry->sp);
  const bool now_on = on(&signals, sp);
  return entry_on == now_on ? below : entry_on; /* what a signal interrupted goes on later */
}

/* Of two functions of one frame, or of frames that end alike and return to one place: is the later
 * one inlined into that of the one before? A function with a frame of its own calls its hook a few
 * instructions behind its beginning, and the other's code is not between. (Where an inlined
 * function or a clone begins says nothing: hooks are given what the function was made of.) */
static WCT_PLAIN bool is_inlined(const struct wct_entry* frame, const struct wct_call* call) {
  if (frame->call_site != call->call_site) {
    return false;
  }
  if (frame->function == call->function) { /* into itself, or called anew */
    return frame->pc != call->pc;
  }
  const uint64_t since_begin = call->pc - call->function;
  return since_begin > LONGEST_PROLOGUE || frame->pc - call->function < since_begin;
}

/* The lowest of the entries on top that share a frame. */
static WCT_PLAIN uint64_t first_of_frame(const struct wct_entry* stack, uint64_t depth,
                                         uint64_t cfa) {
  while (depth > 1 && stack[depth - 1].cfa == cfa) {
    --depth;
  }
  return depth;
}

/* Of entries whose frame ends where that of a function ends that begins: those stay into which it
 * is inlined, unless its hook was called before from the same place, in a turn of a loop that was
 * left.
 */
static WCT_PLAIN uint64_t without_left(const struct wct_entry* stack, uint64_t depth,
                                       const struct wct_call* call, uint64_t cfa) {
  const uint64_t first = first_of_frame(stack, depth, cfa);
  if (first == depth || !is_inlined(&stack[first], call)) {
    return first;
  }
  for (uint64_t at = first; at < depth; ++at) {
    if (stack[at].pc == call->pc) {
      return at;
    }
  }
  return depth;
}

/* Whether the function has the frame of the innermost one. (Behind alloca its hook is called with
 * any stack pointer: where the frame ends cannot be found from there.) */
static WCT_PLAIN bool is_inlined_into_top(const struct wct_entry* stack, uint64_t depth,
                                          const struct wct_call* call) {
  const struct wct_entry* const top = &stack[depth - 1];
  return depth > 1 && top->sp - call->sp < kVeryFar &&
         is_inlined(&stack[first_of_frame(stack, depth, top->cfa)], call);
}

/* Whether the frame's return address stands where it did: what has returned is overwritten by the
 * next that is called, or left as it was. */
static WCT_PLAIN bool holds_return(const struct wct_entry* entry, uint64_t end) {
#if defined(__x86_64__) || defined(__i386__)
  const uint64_t near = 2 * WCT_PAGE; /* else it may have been on a stack that is gone */
  if (entry->cfa - end >= near && !wct_can_be_read(entry->cfa - sizeof(uintptr_t))) {
    return false;
  }
  return *((const uintptr_t*)(uintptr_t)entry->cfa - 1) == entry->call_site;
#else
  (void)entry;
  (void)end;
  return true;
#endif
}

/* Of a function whose hook tells where its frame ends: whether the innermost entry cannot be around
 * it. What ends below it is gone, and what has nothing left of its frame above it. One that stays
 * though it has returned is told to end too late, and none too early. */
static WCT_PLAIN bool is_left_behind(struct wct_region* region, const struct wct_entry* top,
                                     const struct wct_call* call) {
  return top->cfa == call->end || top->sp < call->end ||
         is_gone(region, top, call->sp, call->end) || !holds_return(top, call->end);
}

/* How many entries are around it. Where all keep frame pointers, its caller's tells. */
static WCT_PLAIN uint64_t settle_alone(struct wct_region* region, const struct wct_call* call) {
  const struct wct_entry* const stack = wct_stack(region);
  uint64_t depth = region->depth;
  for (uint64_t at = depth; call->framed && at > 1 && depth - at < MOST_COMPARED; --at) {
    if (stack[at - 1].cfa == call->above && holds_return(&stack[at - 1], call->end)) {
      return at;
    }
  }
  while (depth > 1 && stack[depth - 1].cfa != call->above &&
         is_left_behind(region, &stack[depth - 1], call)) {
    --depth;
  }
  return depth;
}

WCT_PLAIN uint64_t wct_settle_enter(struct wct_region* region, const struct wct_call* call,
                                    uint64_t* cfa) {
  struct wct_entry* const stack = wct_stack(region);
  uint64_t depth = region->depth;
  if (call->end != 0 && region->overflow == 0) {
    *cfa = call->end;
    return settle_alone(region, call);
  }
  if (call->end == 0 && is_inlined_into_top(stack, depth, call)) {
    *cfa = stack[depth - 1].cfa;
    return region->overflow != 0 ? depth : without_left(stack, depth, call, *cfa);
  }
  *cfa = call->end != 0 ? call->end : end_of_frame(region, call);
  if (region->overflow != 0) { /* what lies beyond the capacity has no entry to look at */
    if (stack[depth - 1].sp - *cfa < kVeryFar) {
      return depth;
    }
    region->overflow = 0;
  }
  while (depth > 1 && stack[depth - 1].cfa != *cfa &&
         is_gone(region, &stack[depth - 1], call->sp, *cfa)) {
    --depth;
  }
  depth =
      call->end != 0 ? first_of_frame(stack, depth, *cfa) : without_left(stack, depth, call, *cfa);
  if (depth == 1) { /* the first one stands for what called, for the next call from there */
    stack[0].sp = *cfa;
  }
  return depth;
}

/* Whether `entry` is the one that returns. */
static WCT_PLAIN bool is_of(const struct wct_entry* entry, const struct wct_call* call) {
  if (entry->function != call->function) {
    return false;
  }
  return wct_has_jumped(entry, call) || entry->sp + SLACK - call->sp < kVeryFar;
}

WCT_PLAIN uint64_t wct_settle_exit(struct wct_region* region, const struct wct_call* call) {
  const struct wct_entry* const stack = wct_stack(region);
  const uint64_t depth = region->depth;
  if (region->overflow != 0) {
    if (call->sp < stack[depth - 1].sp) {
      return depth;
    }
    region->overflow = 0;
  }
  for (uint64_t at = depth; at > 1; --at) {
    if (is_of(&stack[at - 1], call)) {
      return at - 1;
    }
  }
  return depth; /* one that began unseen */
}
