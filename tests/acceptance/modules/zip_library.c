/* A library without relocations, so that a few lines map it: each function calls the next. */
typedef int (*callback)(volatile int *);
#define JOINED(a, b) a##_##b
#define JOIN(a, b) JOINED(a, b)
#define NAME(name) JOIN(PREFIX, name)
#define OUT_OF_LINE __attribute__((noinline, noclone))
__attribute__((visibility("hidden"))) volatile int sink;

OUT_OF_LINE static int NAME(deepest)(callback back, volatile int *at) {
  volatile char room[40];
  room[3] = 1;
  return back(at) + room[3];
}

OUT_OF_LINE static int NAME(middle)(callback back, volatile int *at, int n) {
  volatile long room[20];
  room[n] = n;
  return NAME(deepest)(back, at) + (int)room[n];
}

int NAME(entry)(callback back, volatile int *at) {
  sink = 7;
  return NAME(middle)(back, at, sink) + sink;
}
