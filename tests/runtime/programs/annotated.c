/* Says things of itself, and crashes. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <whocall.h>

static int error_of(const char* key, const char* value) {
  errno = 0;
  return whocall_annotate(key, value) == 0 ? 0 : errno;
}

static int refuses(void) {
  char name[64];
  const char* const wrong[] = {"", "a=b", "two\nlines", "0123456789012345678901234567890x"};
  for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    if (error_of(wrong[i], "value") != EINVAL) return 1;
  }
  for (int i = 0; i < 16; ++i) {
    snprintf(name, sizeof name, "key %d", i);
    if (error_of(name, "value") != 0) return 2;
  }
  if (error_of("one more", "value") != ENOSPC || error_of("one more", NULL) != 0) return 3;
  return error_of("key 3", "another") == 0 && error_of("key 4", NULL) == 0 ? 0 : 4;
}

/* A fork comes while another thread is in the middle of it. */
static void* writes(void* nothing) {
  for (;;) whocall_annotate("busy", "writing");
  return nothing;
}

static int forks(void) {
  pthread_t thread;
  int failed = 0;
  pthread_create(&thread, NULL, writes, NULL);
  for (int i = 0; i < 100; ++i) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(whocall_annotate("child", "value") == 0 ? 0 : 1);
    waitpid(child, &status, 0);
    failed += status != 0;
    failed += whocall_annotate("parent", "value") != 0;
  }
  printf("%d failed\n", failed);
  return 0;
}

int main(int argc, char** argv) {
  char value[300];
  if (argc > 2) return forks();
  if (argc > 1) {
    if (refuses() != 0) return refuses();
  } else {
    memset(value, 'x', sizeof value);
    value[126] = (char)0xc3; /* one letter of two bytes, at the end of the room */
    value[127] = (char)0xa4;
    value[299] = 0;
    whocall_annotate("release", "4.1");
    whocall_annotate("customer", "Caf\xc3\xa9\n#0  0x1 forged [cfi]\x1b[31m");
    whocall_annotate("long", value);
    whocall_annotate("gone", "secret");
    whocall_annotate("gone", NULL);
    whocall_annotate("release", "4.2");
    whocall_annotate("like a frame", "#0  0x0000000000001234 /bin/ls(+0x1234) main+0x4 [cfi]");
  }
  *(volatile int*)16 = 1;
  return 0;
}
