// Functions that are left without a return, and one that is called behind that.
#include <csetjmp>
#include <cstdlib>
#include <stdexcept>

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

static jmp_buf place;

KEPT static void jump(int n) {
  if (n == 0) longjmp(place, 1);
  jump(n - 1);
  STAY();
}
KEPT static void fail(int n) {
  if (n == 0) throw std::runtime_error("n");
  fail(n - 1);
  STAY();
}
extern "C" KEPT void after(void) { STAY(); }

int main() {
  if (setjmp(place) == 0) jump(3);
  after();
  try {
    fail(3);
  } catch (const std::exception &) {
    STAY();
  }
  after();
  std::abort();
}
