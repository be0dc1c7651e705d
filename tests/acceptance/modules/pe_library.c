/* Compiled for Windows by clang: a chain of calls through frames of all kinds, with a call out of
   the file in the middle. Its last function reads at the address that it was handed. */
#define OUT_OF_LINE __attribute__((noinline))
typedef int (*callback)(volatile int *);
volatile int zero = 0;
#ifdef __i386__
__asm__(".globl __chkstk\n__chkstk:\n"
        "push %ecx\nmov 4(%esp), %ecx\nneg %eax\nmov %ecx, 4(%esp,%eax)\n"
        "mov (%esp), %ecx\nlea (%esp,%eax), %esp\nadd $4, %esp\nret\n");
#else
__asm__(".globl ___chkstk_ms, __chkstk\n___chkstk_ms:\n__chkstk: ret\n");
#endif
static OUT_OF_LINE int deepest(volatile int *p) { return *p + 1; }
static OUT_OF_LINE int saving(volatile int *p, int a, int b, int c, int d, int e, int f) {
  int r = deepest(p);
  return r + a * b + c * d + e * f + a * f + b * e;
}
static OUT_OF_LINE int sized(volatile int *p) {
  volatile char b[300];
  b[zero] = 1;
  return saving(p, zero, zero + 1, b[zero], zero + 2, zero + 3, zero) + b[zero];
}
static OUT_OF_LINE int adding(volatile int *p, int n, ...) {
  __builtin_va_list more;
  int r = sized(p);
  __builtin_va_start(more, n);
  while (n-- > 0) r += __builtin_va_arg(more, int);
  __builtin_va_end(more);
  return r;
}
static OUT_OF_LINE int large(volatile int *p) {
  volatile char b[9000];
  b[zero] = 1;
  return adding(p, 3 + zero, 7, 8, 9) + b[zero];
}
static OUT_OF_LINE int varying(volatile int *p, int n) {
  volatile char *b = __builtin_alloca(n);
  b[zero] = 1;
  return large(p) + b[zero];
}
__declspec(dllexport) int library_step(volatile int *p) { return varying(p, 100 + zero) + 3; }
__declspec(dllexport) int library_entry(volatile int *p, callback c) { return c(p) + 4; }
