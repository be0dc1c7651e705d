/* What programs do to libwhocall-trace, one case by its first word. After each the program says "ok"
 * or "WRONG". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

#define PLAIN __attribute__((no_instrument_function, noinline))
#define KEEP __attribute__((noinline, noclone))
#define TOUCH() __asm__ volatile("" ::: "memory")

PLAIN static void say(int right, const char* what) {
  printf("%s: %s\n", right ? "ok" : "WRONG", what);
  fflush(stdout);
}

KEEP void leaf(void) { TOUCH(); }
KEEP void other(void) { TOUCH(); }

/* Runs it in a thread with a small stack, and waits. */
PLAIN static void in_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  if (pthread_create(&thread, &attributes, function, argument) != 0) {
    say(0, "a thread cannot be made");
    exit(1);
  }
  pthread_join(thread, NULL);
}

/* A program that calls hooks by itself may tell a call site that stands nowhere on the stack. */
PLAIN static void* calls_hooks(void* unused) {
  void* const nowhere = (void*)(uintptr_t)0x5a5a5a5b;
  __cyg_profile_func_enter((void*)leaf, nowhere);
  whocall_trace_call top;
  say(whocall_trace_stack(&top, 1) == 1 && top.function == (void*)leaf, "a call from nowhere");
  __cyg_profile_func_exit((void*)leaf, nowhere);
  say(whocall_trace_stack(&top, 1) == 0, "behind it");
  return unused;
}

PLAIN static void* one_leaf(void* unused) {
  leaf();
  return unused;
}

/* A daemon closes what it did not open, and its own file gets the number. */
PLAIN static void closes_all(const char* path) {
  leaf();
  for (int at = 3; at < 64; ++at) {
    close(at);
  }
  int mine = -1;
  do {
    mine = open(path, O_RDWR | O_CREAT, 0600);
  } while (mine < 10);
  in_thread(one_leaf, NULL);
  struct stat found;
  fstat(mine, &found);
  say(found.st_size == 0, "the program's own file stays as it is");
  if (fork() == 0) {
    _exit(fcntl(mine, F_GETFD) >= 0 ? 0 : 1);
  }
  int status = 1;
  wait(&status);
  say(status == 0, "and stays open in a child");
}

KEEP static void early(void) { TOUCH(); }
KEEP static void late(void) { TOUCH(); }
PLAIN static void* early_or_late(void* number) {
  (uintptr_t)number < 150 ? early() : late();
  return NULL;
}

PLAIN static void* without_memory(void* unused) {
  struct rlimit limit = {1 << 20U, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  errno = 77;
  leaf();
  say(errno == 77, "errno, where there is no memory for a thread's region");
  limit.rlim_cur = RLIM_INFINITY;
  setrlimit(RLIMIT_AS, &limit);
  return unused;
}

/* Threads by the thousand leave room for the program. */
PLAIN static void many_threads(void) {
  for (int at = 0; at < 1500; ++at) {
    in_thread(one_leaf, NULL);
  }
  const size_t size = (size_t)1 << 30U;
  say(mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED,
      "a gigabyte is left");
  say(wct_root.lost_threads == 0, "every thread was recorded");
}

/* A thread's events are none of the thread before it, whose memory it has. */
PLAIN static void* records(void* events) {
  for (int at = 0; at < (int)(intptr_t)events; ++at) {
    leaf();
  }
  if ((intptr_t)events == 1) {
    int left = 0;
    for (uint64_t at = wct_self->count; at < wct_self->ring_capacity; ++at) {
      left += wct_ring(wct_self)[at].time != 0;
    }
    say(wct_self->count == 2 && left == 0, "no event of an ended thread is left in its ring");
  }
  return NULL;
}

#if defined(__x86_64__)
enum { kTrap = 0x100 };

__attribute__((always_inline, no_instrument_function)) static inline void step(void) {
  __asm__ volatile("pushf; orl $0x100, (%%rsp); popf" : : : "memory", "cc");
}
__attribute__((always_inline, no_instrument_function)) static inline void stop_steps(void) {
  __asm__ volatile("pushf; andl $~0x100, (%%rsp); popf" : : : "memory", "cc");
}

static int steps_left;
static void (*at_step)(ucontext_t* context);

PLAIN static void stepped(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  if (--steps_left == 0) {
    at_step(context);
  }
}

PLAIN static void set_steps(int steps, void (*act)(ucontext_t* context)) {
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = stepped;
  sigaction(SIGTRAP, &action, NULL);
  steps_left = steps;
  at_step = act;
}

PLAIN static void forget(ucontext_t* context) {
  (void)context;
  whocall_trace_everything();
}

PLAIN static int has_events(void (*function)(void)) {
  const uint64_t before = whocall_trace_count();
  function();
  return whocall_trace_count() != before;
}

/* All filters are forgotten in a signal handler, in the middle of adding one. */
PLAIN static void forgets(void) {
  int wrong = 0;
  int steps = 0;
  do {
    whocall_trace_everything();
    whocall_trace_only((void*)leaf, (char*)leaf + 1);
    set_steps(++steps, forget);
    step();
    whocall_trace_only((void*)other, (char*)other + 1);
    stop_steps();
    wrong += steps_left <= 0 && has_events(leaf) && !has_events(early);
  } while (steps_left <= 0 && steps < 10000);
  whocall_trace_everything();
  say(wrong == 0 && steps > 20, "a filter that was forgotten does not come back");
}

PLAIN static void forks(ucontext_t* context) {
  if (fork() == 0) {
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)kTrap;
    steps_left = -1;
  }
}

KEEP static void work(void) { leaf(); }

/* A child that is made in a signal handler in the middle of a hook goes on with that hook. */
PLAIN static void forks_in_hooks(void) {
  int steps = 0;
  do {
    const pid_t self = getpid();
    set_steps(++steps, forks);
    step();
    work();
    stop_steps();
    if (getpid() != self) {
      for (int at = 0; at < 100; ++at) {
        other();
      }
      _exit(0);
    }
    wait(NULL);
  } while (steps_left <= 0 && steps < 10000);
  printf("work %d\nleaf %d\n", steps, steps);
}
#endif

PLAIN int main(int count, char** words) {
  const char* const name = count > 1 ? words[1] : "";
  if (strcmp(name, "calls_hooks") == 0) {
    in_thread(calls_hooks, NULL);
  } else if (strcmp(name, "closes_all") == 0 && count > 2) {
    closes_all(words[2]);
  } else if (strcmp(name, "early_and_late") == 0) {
    for (uintptr_t at = 0; at < 300; ++at) {
      in_thread(early_or_late, (void*)at);
    }
    abort();
  } else if (strcmp(name, "without_memory") == 0) {
    in_thread(without_memory, NULL);
  } else if (strcmp(name, "many_threads") == 0) {
    many_threads();
  } else if (strcmp(name, "records") == 0) {
    in_thread(records, (void*)100);
    in_thread(records, (void*)1);
#if defined(__x86_64__)
  } else if (strcmp(name, "forgets") == 0) {
    forgets();
  } else if (strcmp(name, "forks_in_hooks") == 0) {
    forks_in_hooks();
#endif
  }
  return 0;
}
