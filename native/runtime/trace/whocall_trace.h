/* libwhocall-trace: records which function called which, in memory.
 *
 * Compile with -finstrument-functions and link with -lwhocall-trace (or libwhocall-trace.a): from
 * then on each thread keeps a shadow stack and a ring of its latest calls and returns. `whocall
 * trace` reads them out of a core, a live process or a file. Nothing has to be called; the
 * functions below switch and filter while the program runs. All are safe in signal handlers but
 * those that say otherwise. The environment sets what holds at the start:
 *
 *   WHOCALL_TRACE=off|stacks|events   what is kept (events: shadow stacks and rings; the default)
 *   WHOCALL_TRACE_EVENTS=N            events in each thread's ring (262144; a power of two)
 *   WHOCALL_TRACE_STACK=N             activations in each shadow stack (65536)
 *   WHOCALL_TRACE_THREADS=N           beyond so many (1024; 64 where pointers have 32 bits), the
 *                                     memory of ended threads is taken anew
 *   WHOCALL_TRACE_DEPTH=N             no events of calls deeper than that
 *   WHOCALL_TRACE_ONLY=NAME,NAME...   events of these modules and functions alone
 *   WHOCALL_TRACE_SKIP=NAME,NAME...   no events of these
 *   WHOCALL_TRACE_SIGNAL=USR2         each such signal switches events on, and the next one back to
 *                                     what WHOCALL_TRACE says; where that is events, they go off
 *   WHOCALL_TRACE_PATCH=1             write calls into functions that -fpatchable-function-entry=5
 *                                     has left room in
 *   WHOCALL_TRACE_FILE=PATH           keep all that in a file (%p: the process id)
 *   WHOCALL_TRACE_CLOCK=monotonic     no time stamp counter
 *
 * The file is made for its owner alone. One that is there is taken only if it is a regular file of
 * this user's or root's, by its one name and not by a link. Where a living process keeps its trace
 * there, this one before it called exec among them, it is PATH.1, PATH.2 and so on. Programs with
 * rights that who starts them lacks (set-user-ID and its like) obey none of these variables.
 */
#ifndef WHOCALL_TRACE_H
#define WHOCALL_TRACE_H

/* NOLINTBEGIN: a header of C */
#include <stddef.h>
#include <stdint.h>

#define WHOCALL_TRACE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum whocall_trace_mode {
  WHOCALL_TRACE_OFF,
  WHOCALL_TRACE_STACKS, /* shadow stacks, no events */
  WHOCALL_TRACE_EVENTS  /* both */
} whocall_trace_mode;

/* Switches all threads; returns what was. After OFF shadow stacks begin empty: they hold what is
 * called from then on. */
WHOCALL_TRACE_API whocall_trace_mode whocall_trace_switch(whocall_trace_mode mode);

/* Events of code in [begin, end) alone, or none of it; may be called several times, 32 in all. With
 * any `only`, code outside all of them has no events. Shadow stacks know no filters. 0: done; -1:
 * too many. */
WHOCALL_TRACE_API int whocall_trace_only(const void* begin, const void* end);
WHOCALL_TRACE_API int whocall_trace_skip(const void* begin, const void* end);

/* The same for a loaded file ("libfoo.so.1": its path ends so) or an exported function. Not for
 * signal handlers: asks the dynamic linker. -1: there is none of that name, or too many filters. */
WHOCALL_TRACE_API int whocall_trace_only_name(const char* name);
WHOCALL_TRACE_API int whocall_trace_skip_name(const char* name);

/* No events of calls deeper than `depth`; the outermost instrumented function of a thread has 0. */
WHOCALL_TRACE_API void whocall_trace_depth(uint32_t depth);
/* Forgets all filters, the depth among them. */
WHOCALL_TRACE_API void whocall_trace_everything(void);

/* An activation of the calling thread. */
typedef struct whocall_trace_call {
  void* function;
  void* call_site; /* where it returns to */
} whocall_trace_call;

/* The calling thread's shadow stack, innermost first; returns how many activations there are, of
 * which `count` at most are stored. */
WHOCALL_TRACE_API size_t whocall_trace_stack(whocall_trace_call* calls, size_t count);

/* Events of the calling thread so far, also those that the ring has lost since. */
WHOCALL_TRACE_API uint64_t whocall_trace_count(void);

/* How many calls WHOCALL_TRACE_PATCH=1 has written; -Wl,-u,whocall_trace_patch has that linked in.
 */
WHOCALL_TRACE_API extern uint64_t whocall_trace_patch;

/* What the compiler calls; by -pg also mcount, __fentry__ and the like, which are no functions of
 * C: they are called as no other. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
WHOCALL_TRACE_API void __cyg_profile_func_enter(void* function, void* call_site);
WHOCALL_TRACE_API void __cyg_profile_func_exit(void* function, void* call_site);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif
/* NOLINTEND */

#endif
