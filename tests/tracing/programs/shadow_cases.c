/* Ways in which functions end without a return, or stand on a stack in an unusual way. After each the
 * program compares its own shadow stack with what has to be there, and prints "ok" or "WRONG". */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/trace/whocall_trace.h"

#define PLAIN __attribute__((no_instrument_function, noinline))
#define KEEP __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))
#define TOUCH() __asm__ volatile("")

static int failures;

/* `wanted`: functions, innermost first; NULL ends them. */
PLAIN static void expect(const char* what, void** wanted) {
  whocall_trace_call got[64];
  const size_t count = whocall_trace_stack(got, 64);
  size_t at = 0;
  while (at < count && wanted[at] != NULL && got[at].function == wanted[at]) {
    ++at;
  }
  const int right = at == count && wanted[at] == NULL;
  printf("%s: %s\n", right ? "ok" : "WRONG", what);
  failures += !right;
}
#define EXPECT(what, ...) expect(what, (void*[]){__VA_ARGS__, NULL})

int main(void);
KEEP void jumps(void);
KEEP void signals(void);
KEEP void inlines(void);
KEEP void large(void);
KEEP void clones(void);
KEEP void allocates(int size);

KEEP void leaf(void) { TOUCH(); }

/* Jumps over frames that are smaller and larger than those that come after. */
static jmp_buf place;
KEEP void deeper(int count) {
  if (count == 0) {
    longjmp(place, 1);
  }
  deeper(count - 1);
  TOUCH();
}
KEEP void after(void) { EXPECT("after a jump", after, jumps, main); }
KEEP void other(int jump) {
  (void)jump;
  EXPECT("another function from the same call", other, jumps, main);
}
KEEP void same(int jump) {
  if (jump) {
    longjmp(place, 1);
  }
  EXPECT("the same function from the same call", same, jumps, main);
}
KEEP void jumps(void) {
  if (setjmp(place) == 0) {
    deeper(5);
  }
  after();
  static void (*const calls[])(int) = {same, other, same, same};
  static const int jump[] = {1, 0, 1, 0};
  volatile int at = 0;
  setjmp(place);
  while (at < 4) {
    const int now = at++;
    calls[now](jump[now]);
  }
  EXPECT("behind the jumps", jumps, main);
}

/* Handlers on a stack of their own, below and above the thread's. */
static sigjmp_buf signal_place;
KEEP void handle(int signal) {
  (void)signal;
  EXPECT("a handler", handle, signals, main);
}
KEEP void handle_and_jump(int signal) {
  (void)signal;
  EXPECT("a handler that jumps", handle_and_jump, signals, main);
  siglongjmp(signal_place, 1);
}
KEEP void after_signal(void) { EXPECT("after its jump", after_signal, signals, main); }
KEEP void on_stack(void* memory, size_t size) {
  stack_t stack = {.ss_sp = memory, .ss_size = size};
  sigaltstack(&stack, NULL);
  TOUCH();
}
KEEP void signals(void) {
  static char below[65536];
  void* const above = mmap((void*)0x7ffffffd0000, sizeof below, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const stacks[] = {below, above};
  for (volatile int at = 0; at < 2; ++at) {
    on_stack(stacks[at], sizeof below);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    EXPECT("behind the handler", signals, main);
    action.sa_handler = handle_and_jump;
    sigaction(SIGUSR1, &action, NULL);
    if (sigsetjmp(signal_place, 1) == 0) {
      raise(SIGUSR1);
    }
    after_signal();
    EXPECT("behind after_signal", signals, main);
  }
}

/* The same right above the stack of a thread that was made later. */
void* near(void* above);
KEEP void handle_near_and_jump(int signal) {
  (void)signal;
  EXPECT("a handler that jumps, near its thread", handle_near_and_jump, near);
  siglongjmp(signal_place, 1);
}
KEEP void after_near(void) { EXPECT("after its jump, near its thread", after_near, near); }
KEEP void* near(void* above) {
  on_stack(above, 65536);
  struct sigaction action = {.sa_handler = handle_near_and_jump, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  if (sigsetjmp(signal_place, 1) == 0) {
    raise(SIGUSR1);
  }
  after_near();
  EXPECT("behind it, near its thread", near);
  return NULL;
}
PLAIN static void near_signals(void) {
  enum { kStack = 262144 };
  char* const memory = mmap(NULL, kStack + 65536, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t below;
  pthread_attr_init(&below);
  pthread_attr_setstack(&below, memory, kStack);
  pthread_t thread;
  failures += pthread_create(&thread, &below, near, memory + kStack) != 0;
  pthread_join(thread, NULL);
}

/* What the compiler makes a jump of. */
KEEP void tail_target(void) { TOUCH(); }
KEEP void tail_caller(int count) {
  if (count > 0) {
    tail_caller(count - 1);
    return;
  }
  tail_target();
}

/* Functions without a frame of their own. */
KEEP void outer(void);
INLINE void inner(void) { TOUCH(); }
INLINE void middle(void) {
  inner();
  inner();
  outer();
}
PLAIN static void expect_inlined(void) {
  whocall_trace_call got[8];
  const size_t count = whocall_trace_stack(got, 8);
  const int right = count == 4 && got[0].function == (void*)outer &&
                    got[2].function == (void*)inlines && got[3].function == (void*)main;
  printf("%s: inlined functions\n", right ? "ok" : "WRONG");
  failures += !right;
}
KEEP void outer(void) { expect_inlined(); }
INLINE void leaves(int jump) {
  TOUCH();
  if (jump) {
    longjmp(place, 1);
  }
}
KEEP void inlines(void) {
  middle();
  middle();
  volatile int at = 0;
  setjmp(place);
  while (at < 6) {
    leaves(at++ & 1);
  }
}

/* A clone, as the compiler makes one for a constant: its hooks tell the address of the original. */
static volatile int clone_depths;
PLAIN static void note_depth(void) { clone_depths += (int)whocall_trace_stack(NULL, 0); }
INLINE void in_clone(void) { TOUCH(); }
__attribute__((noinline)) static int cloned(int count, int step) {
  in_clone();
  note_depth();
  in_clone();
  leaf();
  note_depth();
  return count > 0 ? cloned(count - step, step) + step : 0;
}
KEEP void clones(void) {
  cloned(2, 1);
  const int right = clone_depths == 2 * (3 + 4 + 5);
  printf("%s: clones\n", right ? "ok" : "WRONG");
  failures += !right;
  EXPECT("behind clones", clones, main);
}

/* Inlined functions behind alloca, in a recursion: return addresses of before lie in the room. */
static int wrong_depths;
PLAIN static void expect_depth(size_t wanted) {
  wrong_depths += whocall_trace_stack(NULL, 0) != wanted;
}
KEEP int regrows(int count, const int all) {
  char* const room = alloca((size_t)(24 + (count * 7 % 5) * 40));
  __asm__ volatile("" : : "r"(room));
  in_clone();
  expect_depth((size_t)(all - count) + 2);
  int below = count > 0 ? regrows(count - 1, all) : 0;
  in_clone();
  below += count > 1 ? regrows(count - 2, all - 1) : 0;
  in_clone();
  expect_depth((size_t)(all - count) + 2);
  return below + 1;
}

KEEP void in_large(char* room) {
  *room = 1;
  EXPECT("a frame of 4 MiB", in_large, large, main);
}
KEEP void large(void) {
  char room[4 << 20];
  in_large(room);
  EXPECT("behind it", large, main);
  __asm__ volatile("" : : "r"(room));
}

KEEP void allocates(int size) {
  for (int turn = 0; turn < 3; ++turn) {
    char* const room = alloca((size_t)size);
    *room = 0;
    __asm__ volatile("" : : "r"(room));
    leaf();
    EXPECT("a frame that grows", allocates, main);
  }
}

KEEP int down(int count) {
  const int below = count == 0 ? 0 : down(count - 1);
  TOUCH();
  return below + 1;
}

KEEP void in_child(void) {
  leaf();
  EXPECT("a child", in_child, main);
}

int main(void) {
  EXPECT("main", main);
  jumps();
  EXPECT("behind jumps", main);
  signals();
  near_signals();
  EXPECT("behind signals", main);
  tail_caller(3);
  EXPECT("behind tail calls", main);
  inlines();
  EXPECT("behind inlined functions", main);
  regrows(12, 12);
  printf("%s: a recursion whose frames grow\n", wrong_depths == 0 ? "ok" : "WRONG");
  failures += wrong_depths;
  EXPECT("behind it", main);
  clones();
  EXPECT("behind clones", main);
  large();
  EXPECT("behind a large frame", main);
  allocates(3000);
  EXPECT("behind a growing frame", main);
  down(100000);
  EXPECT("behind more calls than the shadow stack holds", main);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    fflush(stdout);
    _exit(failures);
  }
  int status = 0;
  waitpid(child, &status, 0);
  failures += WEXITSTATUS(status);
  EXPECT("the parent", main);
  whocall_trace_switch(WHOCALL_TRACE_OFF);
  leaf();
  whocall_trace_switch(WHOCALL_TRACE_EVENTS);
  leaf();
  expect("after off and on", (void*[]){NULL});
  return failures != 0;
}
