/* Installs the handler by itself, in the way that its first word says. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "whocall.h"

static volatile int *volatile nowhere = (int *)16;

static void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(9);
}

static void earlier(int signal, siginfo_t *info, void *context) {
  whocall_frame frames[8];
  const size_t count = whocall_backtrace_context(context, frames, 8);
  (void)signal;
  say("the earlier handler was called: ");
  say(count != 0 && frames[0].function != NULL ? frames[0].function : "?");
  say(info->si_addr == (void *)16 ? ", with the address\n" : ", without the address\n");
  _exit(7);
}

static void gives_up(int signal) {
  (void)signal;
  say("the earlier handler gives up\n");
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  sigaction(SIGSEGV, &usual, NULL);
}

__attribute__((noinline)) static void boom(void) {
  *nowhere = 1;
  __asm__ volatile("");
}

int main(int count, char **words) {
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  if (strcmp(words[1], "memory") == 0) {
    /* Shared with a file, as memory that survives a restart would be. */
    const int file = open(words[2], O_RDWR | O_CREAT, 0600);
    options.ring_size = 8192;
    if (ftruncate(file, 8192) != 0) return 3;
    options.memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    options.text_fd = -1;
  } else if (strcmp(words[1], "descriptor") == 0) {
    options.record_fd = open(words[2], O_RDWR | O_CREAT, 0600);
  } else if (strcmp(words[1], "chain") == 0) {
    action.sa_sigaction = earlier;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
  } else if (strcmp(words[1], "gives_up") == 0) {
    action.sa_handler = gives_up;
    sigaction(SIGSEGV, &action, NULL);
  } else if (strcmp(words[1], "ignored") == 0) {
    action.sa_handler = SIG_IGN;
    sigaction(SIGFPE, &action, NULL);
  } else if (strcmp(words[1], "slots") == 0) {
    options.ring_path = words[2];
    options.ring_size = 16384;
    options.slot_size = (size_t)atoi(words[3]);
    options.text_fd = -1;
  } else if (strcmp(words[1], "wrong") == 0) {
    options.slot_size = 100;
  }
  options.before_handlers = count > 2 && strcmp(words[2], "first") == 0;
  if (whocall_install(&options) != 0) {
    perror("whocall_install");
    return 4;
  }
  if (strcmp(words[1], "ignored") == 0) {
    raise(SIGFPE);
    say("still here\n");
    return 0;
  }
  boom();
  return 0;
}
