/* Crashes without something that there was at the start: the first word says what is taken away. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) static void boom(void) {
  *(volatile int*)16 = 1;
  __asm__ volatile("");
}

/* As servers do that show what they are at in the list of processes. */
static void write_title(char** words) {
  extern char** environ;
  char* end = words[0];
  for (char** each = environ; *each != NULL; ++each)
    end = *each + strlen(*each);
  memset(words[0], 'x', (size_t)(end - words[0]));
}

static char small[65536];

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (strcmp(what, "descriptors") == 0) {
    const struct rlimit none = {3, 3};
    for (int i = 3; i < 64; ++i)
      close(i);
    setrlimit(RLIMIT_NOFILE, &none);
  } else if (strcmp(what, "stack") == 0) {
    const stack_t stack = {.ss_sp = small, .ss_size = (size_t)atoi(words[2])};
    sigaltstack(&stack, NULL);
  } else if (strcmp(what, "environment") == 0) {
    write_title(words);
  }
  boom();
  return 0;
}
