/* Threads that stand in a call each, for as long as the program lives; then some threads crash. A
 * thread that gets past what it stood in says so. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600

static sem_t semaphore;
static int pipe_ends[2], listener, word;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile pid_t child;
static volatile int* volatile nowhere = (int*)16;

static void in_sleep(void) { sleep(HOUR); }
static void in_usleep(void) { usleep(HOUR * 1000000U); }
static void in_nanosleep(void) {
  const struct timespec hour = {HOUR, 0};
  nanosleep(&hour, NULL);
}
static void in_semaphore(void) { sem_wait(&semaphore); }
static void in_read(void) {
  char letter;
  if (read(pipe_ends[0], &letter, 1) < 0)
    perror("read");
}
static void in_poll(void) {
  struct pollfd asked = {.fd = pipe_ends[0], .events = POLLIN};
  poll(&asked, 1, HOUR * 1000);
}
static void in_futex(void) { syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0); }
static void in_accept(void) { accept(listener, NULL, NULL); }
static void in_waitpid(void) { waitpid(child, NULL, 0); }
static void in_condition(void) {
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
}

static const struct {
  const char* name;
  void (*stand)(void);
} ways[] = {{"sleep", in_sleep},         {"usleep", in_usleep}, {"nanosleep", in_nanosleep},
            {"semaphore", in_semaphore}, {"read", in_read},     {"poll", in_poll},
            {"futex", in_futex},         {"accept", in_accept}, {"waitpid", in_waitpid},
            {"condition", in_condition}};
enum { kWays = sizeof ways / sizeof ways[0] };

static volatile pid_t standing[kWays];

static void* stand(void* number) {
  const int way = (int)(long)number;
  pthread_setname_np(pthread_self(), ways[way].name);
  standing[way] = gettid();
  ways[way].stand();
  dprintf(1, "past: %s\n", ways[way].name);
  return NULL;
}

/* Returns when the thread waits for the kernel. */
static void wait_until_it_stands(int way) {
  char path[64], line[256] = "";
  while (standing[way] == 0)
    usleep(1000);
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)standing[way]);
  while (strstr(line, ") S ") == NULL) {
    usleep(1000);
    FILE* file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
      _exit(9);
    fclose(file);
  }
}

static pthread_barrier_t barrier;

__attribute__((noinline)) static void* fall(void* unused) {
  pthread_barrier_wait(&barrier);
  *nowhere = 1;
  return unused;
}

int main(int count, char** words) {
  const int falling = count > 1 ? atoi(words[1]) : 1;
  pthread_t thread;
  struct sockaddr address = {.sa_family = AF_UNIX};
  sem_init(&semaphore, 0, 0);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (pipe(pipe_ends) != 0 || bind(listener, &address, sizeof(sa_family_t)) != 0 ||
      listen(listener, 1) != 0)
    return 3;
  child = fork();
  if (child == 0) {
    close(pipe_ends[1]); /* it ends with its parent */
    char letter;
    return (int)read(pipe_ends[0], &letter, 1);
  }
  for (long i = 0; i < kWays; ++i) {
    if (pthread_create(&thread, NULL, stand, (void*)i) != 0)
      return 4;
    wait_until_it_stands((int)i);
  }
  pthread_barrier_init(&barrier, NULL, (unsigned)falling);
  for (int i = 1; i < falling; ++i)
    pthread_create(&thread, NULL, fall, NULL);
  fall(NULL);
  return 0;
}
