/* A program with a handler of its own: the first word says what the handler does, the second when it
 * is set: "before" the one for crashes, which the program then installs, or "after" it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "whocall.h"

static char* page;
static sigjmp_buf place;
static const char* way;
static int calls;

static int is_way(const char* name) { return strcmp(way, name) == 0; }

static void say(const char* text) {
  if (write(1, text, strlen(text)) < 0)
    _exit(9);
}

/* Which signals are blocked: what the kernel does by mask and flags. */
static void say_mask(void) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  say("blocked:");
  for (int each = 1; each < 32; ++each)
    if (sigismember(&mask, each) == 1) {
      char text[8];
      snprintf(text, sizeof text, " %d", each);
      say(text);
    }
  say("\n");
}

static void take_default(void) {
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  sigaction(SIGSEGV, &usual, NULL);
}

/* As the C library does it since glibc 2.41: what blocks the signal ends without its handler. */
static void abort_as_later(void) {
  const unsigned long usual[8] = {0}; /* the kernel's struct */
  raise(SIGABRT);
  syscall(SYS_rt_sigaction, SIGABRT, usual, NULL, 8);
  abort();
}

static void handler(int number, siginfo_t* info, void* context) {
  (void)context;
  if (++calls == 1) {
    say("own handler");
    say(info->si_addr == (void*)(page + 16) ? ", with the address\n" : "\n");
    say_mask();
  }
  if (is_way("mends") || is_way("mends_once"))
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
  else if (is_way("jumps"))
    siglongjmp(place, 1);
  else if (is_way("aborts"))
    abort();
  else if (is_way("blocks_and_aborts"))
    abort_as_later();
  else if (is_way("exits"))
    exit(3);
  else if (is_way("exits_at_once"))
    _exit(3);
  else if (is_way("gives_up"))
    take_default();
  else if (is_way("sends_again")) {
    take_default();
    raise(number);
  } else if (is_way("sends_at_once")) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, number);
    take_default();
    sigprocmask(SIG_UNBLOCK, &own, NULL);
    raise(number);
  }
}

__attribute__((noinline)) static void boom(void) {
  page[16] = 1;
  __asm__ volatile("");
}

int main(int count, char** words) {
  struct sigaction action, before, now;
  (void)count;
  way = words[1];
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | (is_way("mends_once") ? (int)SA_RESETHAND : 0) |
                    (is_way("jumps") ? SA_NODEFER : 0);
  sigaddset(&action.sa_mask, SIGUSR1);
  if (is_way("blocks_and_aborts"))
    sigfillset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before);
  say(before.sa_handler == SIG_DFL ? "there was none\n" : "there was one\n");
  if (strcmp(words[2], "before") == 0)
    whocall_install(NULL);
  if (sigsetjmp(place, 1) == 0)
    boom();
  if (strcmp(words[2], "after") == 0) {
    sigaction(SIGSEGV, NULL, &now);
    say(now.sa_handler == SIG_DFL ? "it is gone\n" : "it is there\n");
  }
  say(calls == 1 ? "recovered\n" : "again and again\n");
  return 0;
}
