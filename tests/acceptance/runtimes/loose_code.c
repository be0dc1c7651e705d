/* Runs the methods that CHAIN names, one calling the other, and then dies. LOOSE: in a copy at
 * a fixed address, which no file holds. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern char methods_begin[], methods_end[];
extern void enter(void** list);
#define METHOD(name) extern void __attribute__((weak)) method_##name(void); /* not all have all */
METHOD(a) METHOD(b) METHOD(c) METHOD(d) METHOD(e) METHOD(f) METHOD(g) METHOD(h)
METHOD(i) METHOD(j) METHOD(k) METHOD(l) METHOD(m) METHOD(x) METHOD(y) METHOD(z)
static void (*const methods[])(void) = {method_a, method_b, method_c, method_d, method_e,
                                        method_f, method_g, method_h, method_i, method_j,
                                        method_k, method_l, method_x, method_y, method_m,
                                        method_z};

static size_t index_of(char name) {
  static const char names[] = "abcdefghijklxymz";
  return strchr(names, name) - names;
}

static void __attribute__((noinline)) crash(void) { *(volatile int*)8 = 1; }

static void __attribute__((noinline)) run(const char* names) {
  void* list[128];
  size_t used = 0;
  char* place = methods_begin;
#ifdef LOOSE
  const size_t size = methods_end - methods_begin;
  place = mmap((void*)0x5e000000, size, PROT_READ | PROT_WRITE | PROT_EXEC,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  memcpy(place, methods_begin, size);
  __builtin___clear_cache(place, place + size);
#endif
  for (; *names != 0; ++names) {
    list[used++] = place + ((char*)methods[index_of(*names)] - methods_begin);
  }
  list[used] = crash;
  enter(list);
}

int main(void) {
  run(getenv("CHAIN"));
  return 0;
}
