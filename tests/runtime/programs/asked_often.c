/* Is asked while much goes on: forks, a vfork, crashes, other threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int over;

static void* sleeper(void* nothing) {
  while (!over) usleep(10000);
  return nothing;
}

static void* waiter(void* nothing) {
  while (!over) pause(); /* which ends early where its thread is asked */
  return nothing;
}

static void* asker(void* nothing) {
  while (!over) {
    raise(SIGUSR1);
    usleep(1000);
  }
  return nothing;
}

static void* crasher(void* nothing) {
  usleep(50000);
  *(volatile int*)16 = 1;
  return nothing;
}

static void begin(void* (*function)(void*), pthread_t* thread) {
  if (pthread_create(thread, NULL, function, NULL) != 0) exit(2);
}

int main(int argc, char** argv) {
  pthread_t threads[5];
  (void)argc;
  if (strcmp(argv[1], "vfork") == 0) {
    for (int i = 0; i < 3; ++i) begin(sleeper, &threads[i]);
    begin(asker, &threads[3]);
    for (int i = 0; i < 20; ++i) {
      const pid_t child = vfork();
      if (child == 0) {
        usleep(3000);
        kill(getpid(), SIGUSR1);
        _exit(0);
      }
      waitpid(child, NULL, 0);
    }
    over = 1;
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    return 7;
  }
  if (strcmp(argv[1], "crash") == 0) {
    begin(waiter, &threads[0]);
    begin(waiter, &threads[1]);
    begin(crasher, &threads[2]);
    for (;;) {
      raise(SIGUSR1);
      usleep(300);
    }
  }
  if (strcmp(argv[1], "timer") == 0) {
    struct sigevent event;
    struct itimerspec soon = {{0, 0}, {0, 1000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 2;
    timer_settime(timer, 0, &soon, NULL);
    for (int i = 0; i < 100; ++i) usleep(1000);
    return 0;
  }
  for (int i = 0; i < 4; ++i) begin(waiter, &threads[i]);
  usleep(50000);
  for (int i = 0; i < 3; ++i) raise(SIGUSR1);
  return 0;
}
