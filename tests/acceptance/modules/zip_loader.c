/* A program that maps ELF files right out of an archive, as Android's dynamic linker does. Its
   arguments in the build: the archive, and for each library where it begins there and where its
   entry point lies. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline, noclone))
#define PAGE 4096ul
typedef int (*callback)(volatile int *);
typedef int (*entry)(callback, volatile int *);

static void need(int good, const char *what) { if (!good) { perror(what); exit(3); } }

static char *load(int file, off_t offset) {
  Elf64_Ehdr head;
  Elf64_Phdr parts[16];
  need(pread(file, &head, sizeof head, offset) == sizeof head && head.e_phnum <= 16, "header");
  need(pread(file, parts, head.e_phnum * sizeof *parts, offset + (off_t)head.e_phoff) > 0, "parts");
  unsigned long size = 0;
  for (int i = 0; i < head.e_phnum; ++i)
    if (parts[i].p_type == PT_LOAD) size = parts[i].p_vaddr + parts[i].p_memsz;
  char *base = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(base != MAP_FAILED, "reserve");
  for (int i = 0; i < head.e_phnum; ++i) {
    if (parts[i].p_type != PT_LOAD) continue;
    const unsigned long low = parts[i].p_vaddr & -PAGE, slack = parts[i].p_vaddr - low;
    const int flags = (int)parts[i].p_flags;
    const int rights = (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
                       (flags & PF_X ? PROT_EXEC : 0);
    if (parts[i].p_filesz != 0)
      need(mmap(base + low, parts[i].p_filesz + slack, rights, MAP_PRIVATE | MAP_FIXED, file,
                offset + (off_t)(parts[i].p_offset - slack)) == base + low, "map");
    else
      need(mprotect(base + low, parts[i].p_memsz + slack, rights) == 0, "protect");
  }
  return base;
}

static callback next;
OUT_OF_LINE static int crashing(volatile int *at) { return *at + 1; }
static entry second;
OUT_OF_LINE static int between(volatile int *at) { return second(crashing, at) + 1; }

int main(void) {
  const int file = open(ARCHIVE, O_RDONLY);
  need(file >= 0, ARCHIVE);
  /* An archive is looked at as well, apart from its libraries. */
  need(mmap(0, PAGE, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED, "look");
#ifdef SWAPPED /* What is mapped later lies below: as they lie in the archive. */
  second = (entry)(load(file, SECOND) + SECOND_ENTRY);
  const entry first = (entry)(load(file, FIRST) + FIRST_ENTRY);
#else
  const entry first = (entry)(load(file, FIRST) + FIRST_ENTRY);
  second = (entry)(load(file, SECOND) + SECOND_ENTRY);
#endif
  next = between;
  return first(next, 0) + 1;
}
