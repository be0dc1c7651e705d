// Threads that wait for other things than locks: told as tests/waits/locks.c does.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "settle.h"

static int ends[2], sockets[2], event, many;

static void pipes(void) { char c; read(ends[0], &c, 1); }
static void takes(void) { char c; recv(sockets[0], &c, 1, 0); }
static void reads_socket(void) { char c; read(sockets[0], &c, 1); }
static void events(void) { uint64_t c; read(event, &c, 8); }
static void polls(void) { struct pollfd one = {ends[0], POLLIN, 0}; poll(&one, 1, -1); }
static void polls_for_a_time(void) { struct pollfd one = {ends[0], POLLIN, 0}; poll(&one, 1, 1000000); }
static void selects(void) { fd_set set; FD_ZERO(&set); FD_SET(ends[0], &set); select(ends[0] + 1, &set, NULL, NULL, NULL); }
static void waits_for_many(void) { struct epoll_event one; epoll_wait(many, &one, 1, -1); }
static void sleeps(void) { sleep(100000); }
static void waits_for_child(void) { waitpid(-1, NULL, 0); }
static void pauses(void) { pause(); }
static void runs(void) { for (volatile long i = 0;; ++i) { } }

static const struct { const char *name, *kind, *object; void (*run)(void); } cases[] = {
    {"a", "pipe", "0", pipes},        {"b", "socket", "0", takes},     {"c", "socket", "0", reads_socket},
    {"d", "event", "0", events},      {"e", "poll", "0", polls},       {"f", "poll", "0", polls_for_a_time},
    {"g", "poll", "0", selects},      {"h", "poll", "0", waits_for_many}, {"i", "sleep", "0", sleeps},
    {"j", "child", "0", waits_for_child}, {"k", "signal", "0", pauses}, {"l", "nothing", "0", runs},
};
#define COUNT (sizeof cases / sizeof *cases)

static void *body(void *argument) {
  size_t i = (size_t)argument;
  fprintf(stderr, "thread %s %ld\nwait %s %s 0 -\n", cases[i].name, syscall(SYS_gettid), cases[i].name, cases[i].kind);
  cases[i].run();
  return NULL;
}

int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pipe(ends);
  socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
  event = eventfd(0, 0);
  many = epoll_create1(0);
  pid_t self = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(0);
    for (;;) pause();
  }
  pthread_t made;
  for (size_t i = 0; i < COUNT; ++i) pthread_create(&made, NULL, body, (void *)i);
  settle(COUNT - 1);
  fprintf(stderr, "done\n");
  if (getenv("WHOCALL_CORE") != NULL) abort();
  for (;;) pause();
}
