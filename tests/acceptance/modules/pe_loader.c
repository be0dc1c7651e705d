/* A Linux program that loads a PE file as Wine does: of a file whose parts lie at whole pages each
   is mapped, of others the headers alone, and the parts are read into memory. GAPS: as .NET does,
   which leaves nothing mapped between the parts. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
#define WINDOWS __attribute__((ms_abi))
#define DIRECTORIES 112
#else
#define WINDOWS
#define DIRECTORIES 96
#endif
#define OUT_OF_LINE __attribute__((noinline, noclone))
typedef WINDOWS int (*callback)(volatile int *);
typedef WINDOWS int (*step)(volatile int *);
typedef WINDOWS int (*entry)(volatile int *, callback);

static uint32_t word(const char *at) { uint32_t v; memcpy(&v, at, 4); return v; }
static uint16_t half(const char *at) { uint16_t v; memcpy(&v, at, 2); return v; }
static void need(int good, const char *what) { if (!good) { perror(what); exit(3); } }

static char *load(const char *path) {
  char head[4096] = {0};
  const int file = open(path, O_RDONLY);
  need(file >= 0 && pread(file, head, sizeof head, 0) > 0, path);
  const char *pe = head + word(head + 0x3c), *optional = pe + 24;
  const uint32_t size = word(optional + 56);
  const int flags = MAP_PRIVATE | MAP_FIXED;
  char *base = mmap((char *)BASE, size, PROT_NONE, flags | MAP_ANONYMOUS, -1, 0);
  need(base == (char *)BASE, "reserve");
#ifdef GAPS
  munmap(base, size);
#endif
  need(mmap(base, 4096, PROT_READ, flags, file, 0) == base, "headers");
  const char *row = optional + half(pe + 20);
  for (int n = half(pe + 6); n > 0; --n, row += 40) {
    const uint32_t bytes = word(row + 8), raw = word(row + 16), offset = word(row + 20);
    const uint32_t kind = word(row + 36);
    const int protection = PROT_READ | (kind >> 31 & 1 ? PROT_WRITE : 0) |
                           (kind >> 29 & 1 ? PROT_EXEC : 0);
    char *at = base + word(row + 12);
    if (raw != 0 && offset % 4096 == 0) {
      need(mmap(at, bytes, protection, flags, file, offset) == at, "map");
      continue;
    }
    need(mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0) == at, "part");
    need(raw == 0 || pread(file, at, raw < bytes ? raw : bytes, offset) > 0, "read");
    need(mprotect(at, bytes, protection) == 0, "protect");
  }
  return base;
}

static void *exported(char *base, const char *name) {
  const char *table = base + word(base + word(base + 0x3c) + 24 + DIRECTORIES);
  for (uint32_t n = 0; n < word(table + 24); ++n) {
    if (strcmp(base + word(base + word(table + 32) + 4 * n), name) == 0) {
      const uint16_t ordinal = half(base + word(table + 36) + 2 * n);
      return base + word(base + word(table + 28) + 4 * ordinal);
    }
  }
  need(0, name);
  return 0;
}

static step library_step;
static WINDOWS OUT_OF_LINE int back(volatile int *p) {
  return library_step(p) + (getppid() != 0);
}
static OUT_OF_LINE int calling(entry library_entry, int *p) { return library_entry(p, back) + 2; }

int main(void) {
  char *base = load(LIBRARY);
  library_step = (step)exported(base, "library_step");
  return calling((entry)exported(base, "library_entry"), (int *)0);
}
