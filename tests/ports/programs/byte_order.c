/* A program without a C library, for sets whose byte order the distribution has none of. It takes
 * the table of a switch, pushes frames of two sizes, and faults. */
typedef int (*handler)(int);

static volatile int zero;

#define NOINLINE __attribute__((noinline))

NOINLINE static int fault(int n) {
  volatile int room[12];
  room[n & 7] = n;
  *(volatile int*)(long)zero = room[n & 7];
  return room[1];
}

NOINLINE static int choose(int n, handler f) {
  switch (n) {
    case 0:
      return f(n + 7) + 1;
    case 1:
      return f(n) * 3;
    case 2:
      return f(n + 2) - n;
    case 3:
      return f(n ^ 9) + n;
    case 4:
      return f(4 * n) | 1;
    case 5:
      return f(n + 9) & 77;
    default:
      return n;
  }
}

NOINLINE static int deep(int n) {
  volatile int room[40];
  room[n] = n;
  int y = n ? deep(n - 1) + room[n] : choose(zero + 3, fault) + room[0];
  return y + 1;
}

int main(void) { return deep(5) + 2; }

#ifdef __aarch64__
#define START "mov x29, #0\n mov x30, #0\n bl main\n mov x8, #93\n svc #0\n"
#else
#define START "mov r11, #0\n mov lr, #0\n bl main\n mov r7, #1\n svc #0\n"
#endif

void _start(void);
__asm__(".globl _start\n .type _start, %function\n_start:\n" START ".size _start, . - _start\n");
