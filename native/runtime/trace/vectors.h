/* Keeps the registers of vectors of x86 over calls of the C library. */
#ifndef WHOCALL_RUNTIME_TRACE_VECTORS_H
#define WHOCALL_RUNTIME_TRACE_VECTORS_H

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <stdbool.h>

#include "runtime/trace/region.h"

/* What the registers of vectors hold, arguments among them: the C library, which a thread's first
 * hook calls, uses some, and nobody else keeps them for the function. */
struct vectors {
  unsigned char room[4096]; /* the largest known state, without that of AMX, takes 2,696 */
} __attribute__((aligned(64)));

#define KEPT_VECTORS 0xe7U /* x87, SSE, AVX, and the three of AVX-512, as XCR0 has them */
#define XSAVE_HEADER 512   /* its place in the room, and its size, bytes: zeros at first */
#define XSAVE_HEADER_SIZE 64

static inline WCT_PLAIN bool has_xsave(void) {
  const unsigned enabled = 1U << 27U; /* OSXSAVE */
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & enabled) != 0;
}

static inline WCT_PLAIN void keep_vectors(struct vectors* place, bool by_xsave) {
  if (by_xsave) {
    for (int i = 0; i < XSAVE_HEADER_SIZE; ++i) {
      ((volatile unsigned char*)place->room)[XSAVE_HEADER + i] = 0;
    }
    __asm__ volatile("xsave %0" : "+m"(*place) : "a"(KEPT_VECTORS), "d"(0));
  } else {
    __asm__ volatile("fxsave %0" : "=m"(*place));
  }
}

static inline WCT_PLAIN void restore_vectors(const struct vectors* place, bool by_xsave) {
  if (by_xsave) {
    __asm__ volatile("xrstor %0" : : "m"(*place), "a"(KEPT_VECTORS), "d"(0));
  } else {
    __asm__ volatile("fxrstor %0" : : "m"(*place));
  }
}
#endif

#endif
