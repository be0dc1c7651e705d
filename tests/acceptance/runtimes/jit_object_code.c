/* What the JIT compiler of jit_object_program.c "compiles": functions without frame pointers. */
static int __attribute__((noinline)) inner(int (*stop)(void), int depth) {
  volatile char room[72];
  room[depth] = 1;
  return stop() + room[depth];
}

static int __attribute__((noinline)) deep(int (*stop)(void), int depth) {
  volatile char room[40];
  room[depth] = 3;
  return depth == 0 ? inner(stop, 3) + room[depth] : deep(stop, depth - 1) + room[depth];
}

int outer(int (*stop)(void), int depth) {
  volatile char room[200];
  room[depth] = 2;
  return deep(stop, depth) + room[depth];
}
