/* Puts two functions into memory, writes down what JIT compilers write down, and calls through them
 * into a function that stops or crashes. MAP: directory of a perf map. DUMP: a jitdump in the
 * current directory. CRASH: dies instead of stopping. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kInner = 0x100, kMoved = 0x400, kSize = 0x1000 };
static const unsigned char kOuterCode[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3};
static const unsigned char kInnerCode[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static void __attribute__((noinline)) stop(void) {
#ifdef CRASH
  *(volatile int *)0 = 1;
#else
  raise(SIGSTOP);
#endif
}

#ifdef MAP
static void write_map(const unsigned char *code) {
  char path[4096];
  snprintf(path, sizeof path, "%s/perf-%d.map", MAP, (int)getpid());
  FILE *file = fopen(path, "w");
  fprintf(file, "%lx 20 stale function\n", (unsigned long)code + kMoved - 8);
  fprintf(file, "%lx %zx Outer::run(int, char*)\n", (unsigned long)code, sizeof kOuterCode);
  fprintf(file, "%lx %zx inner\n", (unsigned long)code + kMoved, sizeof kInnerCode);
  fclose(file);
}
#endif

#ifdef DUMP
static FILE *dump;
static void u32(uint32_t value) { fwrite(&value, sizeof value, 1, dump); }
static void u64(uint64_t value) { fwrite(&value, sizeof value, 1, dump); }

static void prefix(uint32_t id, uint32_t size) {
  u32(id);
  u32(16 + size);
  u64(1);
}

static void load(uint64_t address, const void *code, uint64_t size, uint64_t index,
                 const char *name) {
  prefix(0, 40 + strlen(name) + 1 + size);
  u32(getpid());
  u32(getpid());
  u64(address);
  u64(address);
  u64(size);
  u64(index);
  fwrite(name, strlen(name) + 1, 1, dump);
  fwrite(code, size, 1, dump);
}

static void lines(uint64_t address) {
  const char *file = "script.js";
  prefix(2, 16 + 16 + strlen(file) + 1 + 16 + 2);
  u64(address);
  u64(2);
  u64(address);
  u32(7);
  u32(0);
  fwrite(file, strlen(file) + 1, 1, dump);
  u64(address + 4);
  u32(8);
  u32(0);
  fwrite("\xff", 2, 1, dump);
}

static void write_dump(const unsigned char *code) {
  const unsigned char other[16] = {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
  const uint64_t at = (uint64_t)code;
  char path[64];
  snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
  dump = fopen(path, "w+");
  u32(0x4a695444);
  u32(1);
  u32(40);
  u32(EM_X86_64);
  u32(0);
  u32(getpid());
  u64(1);
  u64(0);
  load(at, other, sizeof other, 1, "stale");
  lines(at);
  load(at, code, sizeof kOuterCode, 2, "outer");
  lines(at + kInner);
  load(at + kInner, code + kMoved, sizeof kInnerCode, 3, "inner");
  prefix(1, 48);
  u32(getpid());
  u32(getpid());
  u64(at + kMoved);
  u64(at + kInner);
  u64(at + kMoved);
  u64(sizeof kInnerCode);
  u64(3);
  load(at + kMoved, other, sizeof other, 4, "never there");
  prefix(3, 0);
  load(at, code, sizeof kOuterCode, 5, "after the end");
  fflush(dump);
  mmap(NULL, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
}
#endif

int main(void) {
  unsigned char *code = mmap(NULL, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int32_t distance = kMoved - 9;
  memset(code, 0xcc, kSize);
  memcpy(code, kOuterCode, sizeof kOuterCode);
  memcpy(code + 5, &distance, sizeof distance);
  memcpy(code + kMoved, kInnerCode, sizeof kInnerCode);
#ifdef MAP
  write_map(code);
#endif
#ifdef DUMP
  write_dump(code);
#endif
  ((void (*)(void (*)(void)))code)(stop);
  return 0;
}
