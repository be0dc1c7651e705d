/* A plugin of qemu-user that follows the guest's calls and returns. The file that it is told
   (out=PATH) outlives the guest and holds struct stack for each of its threads: the return
   addresses of all calls that have not come back, the outermost first.

   Nothing is read of the guest's registers and memory: a block that ends in a call, and whose
   successor is another than the one behind it, adds a return address; a return to one of
   the addresses drops it and all that lie above. What became of the last block of all, the signal
   that ended the guest tells: it also holds where that block begins and ends, and whether in a call.

   The prototypes are those of qemu's plugin interface, version 1. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef uint64_t plugin_id;
struct tb;
struct insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct tb *, void (*)(unsigned, void *), int,
                                                 void *);
extern size_t qemu_plugin_tb_n_insns(const struct tb *);
extern struct insn *qemu_plugin_tb_get_insn(const struct tb *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct insn *);
extern size_t qemu_plugin_insn_size(const struct insn *);
extern char *qemu_plugin_insn_disas(const struct insn *);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

enum { THREADS = 16, DEEPEST = 1 << 16 };
struct stack {
  uint64_t tid, depth, begin, end, calls;
  uint64_t back[DEEPEST];
};
static struct stack *stacks;

struct block {
  uint64_t begin, end;
  int kind;
};
static __thread struct block *last;

static int is_one_of(const char *word, const char *const *list) {
  for (; *list; ++list)
    if (!strcmp(word, *list)) return 1;
  return 0;
}
static const char *const kCalls[] = {"bl",     "blx",   "blr",   "blraa", "blrab", "blraaz",
                                     "blrabz", "jal",   "jalr",  "bal",   "jalx",  "bgezal",
                                     "bltzal", "jalrc", "jialc", "balc",  NULL};
static const char *const kConditions[] = {"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs",
                                          "vc", "hi", "ls", "ge", "lt", "gt", "le", NULL};

enum kind { OTHER, CALL, RETURN };

/* Not every indirect jump returns: the cases of a switch may begin where a call comes back. */
static int returns(const char *word, const char *text) {
  if (!strncmp(word, "ret", 3)) return 1;
  if (!strcmp(word, "jr")) return strstr(text, "ra") != NULL;
  if (!strncmp(word, "bx", 2)) return strstr(text, "lr") != NULL;
  int loads = !strncmp(word, "pop", 3) || !strncmp(word, "ld", 2);
  return loads && strstr(text, "pc") != NULL;
}

static int calls(const char *word) {
  if (is_one_of(word, kCalls)) return 1;
  if (!strncmp(word, "blx", 3) && is_one_of(word + 3, kConditions)) return 1;
  return !strncmp(word, "bl", 2) && strlen(word) == 4 && is_one_of(word + 2, kConditions);
}

static enum kind kind_of(const struct insn *insn) {
  char *text = qemu_plugin_insn_disas(insn);
  const char *from = text ? text + strspn(text, " ") : "";
  char word[16] = "";
  size_t length = strcspn(from, " \t.");
  memcpy(word, from, length < sizeof word ? length : 0);
  enum kind kind = calls(word) ? CALL : returns(word, from) ? RETURN : OTHER;
  free(text);
  return kind;
}

static void enter(unsigned vcpu, void *data) {
  struct block *now = data, *from = last;
  struct stack *stack = &stacks[vcpu % THREADS];
  last = now;
  stack->begin = now->begin;
  stack->end = now->end;
  stack->calls = now->kind == CALL;
  if (!stack->tid) stack->tid = (uint64_t)syscall(SYS_gettid);
  if (!from || now->begin == from->end) return;
  if (from->kind == CALL) {
    if (stack->depth < DEEPEST) stack->back[stack->depth] = from->end;
    ++stack->depth;
  } else if (from->kind == RETURN) {
    for (uint64_t at = stack->depth < DEEPEST ? stack->depth : DEEPEST; at > 0; --at)
      if (stack->back[at - 1] == now->begin) {
        stack->depth = at - 1;
        return;
      }
  }
}

static void translated(plugin_id id, struct tb *tb) {
  (void)id;
  size_t count = qemu_plugin_tb_n_insns(tb);
  struct block *block = calloc(1, sizeof *block);
  if (!block) abort();
  struct insn *insn = qemu_plugin_tb_get_insn(tb, count - 1);
  block->begin = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
  block->end = qemu_plugin_insn_vaddr(insn) + qemu_plugin_insn_size(insn);
  block->kind = kind_of(insn);
  if (count > 1 && block->kind == OTHER) /* it may stand in a delay slot */
    block->kind = kind_of(qemu_plugin_tb_get_insn(tb, count - 2));
  qemu_plugin_register_vcpu_tb_exec_cb(tb, enter, 0, block);
}

/* A child of fork goes on by itself. */
static void in_child(void) {
  size_t size = sizeof(struct stack) * THREADS;
  void *own =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own == MAP_FAILED) _exit(1);
  stacks = own;
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  size_t size = sizeof(struct stack) * THREADS;
  const char *path = argc > 0 ? argv[0] : "out=shadow.bin";
  int file = open(strncmp(path, "out=", 4) ? path : path + 4, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, (off_t)size)) return 1;
  stacks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (stacks == MAP_FAILED) return 1;
  pthread_atfork(NULL, NULL, in_child);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
