// Functions of every shape that compilers give their frames; compiled, never run.
typedef unsigned long word;
extern int other(int, ...);
extern int use(void *, ...);
extern void fatal(int) __attribute__((noreturn));
extern int setjmp(void *) __attribute__((returns_twice));
struct big { int field[12]; };
extern struct big make(int);

int plain(int a, int b) { return other(a, b) + other(b); }
int leaf(int a) { return a * 3; }
int tail(int a) { return other(a + 1); }
int tail_behind_frame(int a) { char room[100]; use(room); return other(a); }
int wrapped(int a) { if (!a) return 0; for (int i = 0; i < a; ++i) a += other(i); return a; }
int dies(int a) { if (a > 3) fatal(a); if (other(a)) __builtin_trap(); return other(a + 2); }
int dies_last(int a) { if (other(a)) return 1; fatal(a); }
int variable(int n) { int room[n]; use(room); return room[0] + other(n); }
int variable_in_loop(int n) { int sum = 0; while (n-- > 0) { char *room = __builtin_alloca(n); sum += use(room); } return sum; }
int aligned(int n) { __attribute__((aligned(64))) char room[100]; use(room); return other(n, room[1]); }
int aligned_variable(int n) { __attribute__((aligned(64))) char room[100]; char more[n]; use(room, more); return other(n); }
int aligned_early(int n) { if (n == 0) return other(1); __attribute__((aligned(64))) char room[100]; use(room); return other(n); }
int large(int n) { char room[100000]; use(room); return room[n]; }
int medium(int n) { char room[6000]; use(room); return room[n]; }
int cases(int n, int m) {
  switch (n) {
    case 0: return other(1); case 1: m = other(2, m); case 2: return use(&m); case 3: fatal(3);
    case 4: return other(4, m) + m; case 5: return m * 7; case 6: { char room[m]; return use(room); }
    default: return other(m) - m;
  }
}
int computed(int n, const unsigned char *code) {
  static void *const labels[] = {&&add, &&sub, &&call, &&done};
  goto *labels[*code];
add: n += 3; goto *labels[*++code];
sub: n -= 7; goto *labels[*++code];
call: n = other(n); goto *labels[*++code];
done: return n;
}
int jumps_back(int n) { word room[5]; if (setjmp(room)) return other(n); return use(room); }
struct big structure(int n) { struct big a = make(n), b = make(n + 1); a.field[1] += b.field[2]; return a; }
int through_pointer(int (*f)(int, int), int n) { return f(n, 1) + f(n, 2); }
int variadic(int n, ...) { __builtin_va_list list; __builtin_va_start(list, n); int sum = 0; while (n--) sum += __builtin_va_arg(list, int); __builtin_va_end(list); return sum + other(sum); }
double floats(double a, double b) { double room[6] = {a, b}; use(room); return room[3] + other(2, a); }
int many(int a, int b, int c, int d, int e, int f, int g, int h) { return other(h, g, f, e, d, c, b, a, a + b, c + d, e + f) + a + b + c + d + e + f + g + h; }
int unlikely(int a) { if (__builtin_expect(a == 77, 0)) { other(1, 2, 3, 4, 5, 6, 7, 8, 9); fatal(other(a)); } if (__builtin_expect(other(a), 0)) { use(&a); return other(3); } return a; }
int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
static __attribute__((noinline)) int die_slowly(int a) { use(&a); fatal(a); }
int calls_dying(int a, int b) { if (a) { die_slowly(b); } return other(b) + 1; }
#ifdef __i386__
__attribute__((stdcall, noinline)) int pops(int a, int b) { return other(a, b); }
__attribute__((fastcall, noinline)) int pops_fast(int a, int b, int c) { return other(a, b, c); }
int calls_popping(int a) { int b = pops(a, 3); return pops_fast(b, a, 7) + pops(b, 1); }
__attribute__((regparm(3))) int in_registers(int a, int b, int c) { return other(a, b, c) + b; }
#elif !defined __clang__  // its own table of these is wrong
__attribute__((ms_abi)) int microsoft(int a, int b) { return other(a, b); }
#endif
