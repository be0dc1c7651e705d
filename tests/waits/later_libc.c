// What C libraries since glibc 2.41 do: one function makes the calls of all others, and gcc's
// versions of functions have names of their own.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((noipa)) static long internal_syscall_cancel(long a, long b, long c, long d, long e,
                                                           long f, long number) {
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  long result = number;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

__attribute__((noipa)) int sleeps(struct timespec *until) __asm__("__clock_nanosleep");
int sleeps(struct timespec *until) {
  return internal_syscall_cancel(CLOCK_MONOTONIC, 0, (long)until, 0, 0, 0, SYS_clock_nanosleep) + 1;
}

__attribute__((noipa)) int slow(int *once) __asm__("__pthread_once_slow.isra.0");
int slow(int *once) {
  return internal_syscall_cancel((long)once, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0, SYS_futex) + 1;
}

int main(int count, char **arguments) {
  static int once = 1;
  struct timespec until = {.tv_sec = 600};
  (void)arguments;
  return count > 1 ? slow(&once) : sleeps(&until);
}
