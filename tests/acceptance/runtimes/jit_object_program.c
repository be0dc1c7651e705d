/* Plays a JIT compiler that tells debuggers of its code (GDB's manual, "JIT Compilation Interface"):
 * puts the code of the object file CODE into anonymous memory, registers the file, and calls into
 * the code, which calls a function that stops or crashes. The file is registered
 *   RELOCATED: as a finished one, symbols and .eh_frame with addresses;
 *   LEFT: as an object file whose sections have addresses and whose relocations are left to do;
 *   LOADED: the same, with .eh_frame finished in memory, as exceptions need it, and the relocations
 *     forgotten.
 * NAMED: the code lies in a file, and a core has none of it. HOSTILE: what is wrong with the list,
 * by number. CRASH: dies instead of stopping. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct jit_code_entry {
  struct jit_code_entry *next, *prev;
  const void *symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version, action_flag;
  struct jit_code_entry *relevant_entry, *first_entry;
};
struct jit_descriptor __jit_debug_descriptor = {1, 0, NULL, NULL};
void __attribute__((noinline)) __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

static int __attribute__((noinline)) stop(void) {
#ifdef CRASH
  *(volatile int *)0 = 1;
#else
  raise(SIGSTOP);
#endif
  return 1;
}

static Elf64_Ehdr *file;
static uint64_t file_size; /* bytes */
static Elf64_Shdr *sections;

static Elf64_Shdr *section(const char *name) {
  const char *names = (char *)file + sections[file->e_shstrndx].sh_offset;
  for (int i = 1; i < file->e_shnum; ++i) {
    if (strcmp(names + sections[i].sh_name, name) == 0) {
      return &sections[i];
    }
  }
  abort();
}

static void read_file(const char *path) {
  struct stat status;
  int input = open(path, O_RDONLY);
  if (input < 0 || fstat(input, &status) != 0) {
    abort();
  }
  file_size = status.st_size;
  /* Near the code: .eh_frame has 32 bits for the distance. */
  file = mmap(NULL, file_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (read(input, file, file_size) != (ssize_t)file_size) {
    abort();
  }
  sections = (Elf64_Shdr *)((char *)file + file->e_shoff);
}

/* .eh_frame at `place`, which it will be read at. */
static void __attribute__((unused)) relocate_frames(unsigned char *place) {
  Elf64_Shdr *table = section(".rela.eh_frame");
  Elf64_Sym *symbols = (Elf64_Sym *)((char *)file + section(".symtab")->sh_offset);
  Elf64_Rela *all = (Elf64_Rela *)((char *)file + table->sh_offset);
  for (uint64_t i = 0; i < table->sh_size / sizeof *all; ++i) {
    Elf64_Sym *symbol = &symbols[ELF64_R_SYM(all[i].r_info)];
    uint64_t target = sections[symbol->st_shndx].sh_addr + symbol->st_value + all[i].r_addend;
    int32_t value = (int32_t)(target - (uint64_t)(place + all[i].r_offset));
    memcpy(place + all[i].r_offset, &value, sizeof value);
  }
}

static void __attribute__((unused)) finish_symbols(void) {
  Elf64_Shdr *table = section(".symtab");
  Elf64_Sym *symbols = (Elf64_Sym *)((char *)file + table->sh_offset);
  for (uint64_t i = 1; i < table->sh_size / sizeof *symbols; ++i) {
    if (symbols[i].st_shndx > 0 && symbols[i].st_shndx < file->e_shnum) {
      symbols[i].st_value += sections[symbols[i].st_shndx].sh_addr;
    }
  }
  file->e_type = ET_EXEC;
}

/* Where the code of a function was put. */
static uint64_t symbol_address(const char *name) {
  Elf64_Shdr *table = section(".symtab");
  Elf64_Sym *symbols = (Elf64_Sym *)((char *)file + table->sh_offset);
  const char *names = (char *)file + section(".strtab")->sh_offset;
  for (uint64_t i = 1; i < table->sh_size / sizeof *symbols; ++i) {
    if (strcmp(names + symbols[i].st_name, name) == 0) {
      return symbols[i].st_value + (file->e_type == ET_REL ? section(".text")->sh_addr : 0);
    }
  }
  abort();
}

static void register_code(const void *address, uint64_t size) {
  struct jit_code_entry *entry = calloc(1, sizeof *entry);
  entry->symfile_addr = address;
  entry->symfile_size = size;
  entry->next = __jit_debug_descriptor.first_entry;
  if (entry->next != NULL) {
    entry->next->prev = entry;
  }
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.first_entry = entry;
  __jit_debug_descriptor.action_flag = 1;
  __jit_debug_register_code();
}

static void __attribute__((unused)) spoil(int how) {
  struct jit_code_entry *entry = __jit_debug_descriptor.first_entry;
  switch (how) {
    case 1: /* a circle, and the file is in it */
      entry->next = entry;
      break;
    case 2:
      entry->symfile_size = ~(uint64_t)0;
      break;
    case 3:
      entry->symfile_addr = (void *)8;
      break;
    case 4: /* cut off: its sections are gone */
      entry->symfile_size = 64;
      break;
    case 5:
      __jit_debug_descriptor.version = 2;
      break;
    case 6:
      entry->next = (void *)16;
      break;
    case 7:
      __jit_debug_descriptor.first_entry = (void *)-8;
      break;
    case 8:
      memset(file, 0x5a, file_size);
      break;
    case 9:
      file->e_machine = EM_AARCH64;
      break;
    case 10: /* a million entries, the file in none */
      for (int i = 0; i < 1000000; ++i) {
        register_code(file, 8);
      }
      break;
    case 11: /* the file a thousand times, then so often what is not whole */
      for (int i = 0; i < 1000; ++i) {
        register_code(file, file_size);
        register_code(file, (uint64_t)60 << 20);
      }
      break;
    case 12: /* entries in the section table that lead nowhere */
      file->e_shnum = 0xfeff;
      break;
    case 13: /* a symbol table that says that it is larger */
      section(".symtab")->sh_size = ~(uint64_t)0;
      section(".eh_frame")->sh_offset = ~(uint64_t)7;
      break;
  }
}

int main(void) {
  read_file(CODE);
  Elf64_Shdr *text = section(".text");
  Elf64_Shdr *frames = section(".eh_frame");
#ifdef NAMED
  const int cache = open("jit-cache", O_RDWR | O_CREAT, 0600);
  if (ftruncate(cache, 0x10000) != 0) abort();
  unsigned char *code = mmap(NULL, 0x10000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, cache,
                             0);
  madvise(code, 0x10000, MADV_DONTDUMP);
#else
  unsigned char *code = mmap(NULL, 0x10000, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
  memcpy(code, (char *)file + text->sh_offset, text->sh_size);
  text->sh_addr = (uint64_t)code;
#ifdef RELOCATED
  frames->sh_addr = (uint64_t)file + frames->sh_offset;
  relocate_frames((unsigned char *)file + frames->sh_offset);
  finish_symbols();
#endif
#ifdef LOADED
  unsigned char *loaded = mmap(NULL, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                               -1, 0);
  memcpy(loaded, (char *)file + frames->sh_offset, frames->sh_size);
  frames->sh_addr = (uint64_t)loaded;
  relocate_frames(loaded);
  section(".rela.eh_frame")->sh_type = SHT_NULL;
#endif
#ifdef LEFT
  frames->sh_addr = (uint64_t)file + frames->sh_offset;
#endif
  int (*outer)(int (*)(void), int) = (int (*)(int (*)(void), int))symbol_address("outer");
  register_code(file, file_size);
#ifdef HOSTILE
  spoil(HOSTILE);
#endif
  return outer(stop, 2);
}
