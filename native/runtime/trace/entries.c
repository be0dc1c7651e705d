/* What compilers call at the beginning of each function alone: by -pg (mcount), by -pg -mfentry
 * (__fentry__). That a function has returned shows when the next one begins outside of it; when it
 * did, nobody sees.
 *
 * The C libraries' own functions of these names count calls for gprof; ours stand before them where
 * libwhocall-trace is linked in. Programs are compiled with -pg, and linked without: that would
 * add gprof's beginning and end.
 *
 * Each of them finds the arguments of the function that it is called from in their registers, and
 * leaves them there. */
#include <stddef.h>

#include "runtime/trace/region.h"
#include "runtime/trace/vectors.h"
#include "runtime/trace/whocall_trace.h"

/* What a function begins with, before the hook is called. */
#define MOST_LOOKED_AT ((uintptr_t)256) /* bytes */
#define PAGE_MASK ((uintptr_t)4095)

#if defined(__x86_64__) || defined(__i386__)
#define CALL_SIZE ((uintptr_t)5)          /* bytes: call rel32 */
#define INDIRECT_CALL_SIZE ((uintptr_t)6) /* call *place(%rip) */
#define MARK_SIZE ((uintptr_t)4)          /* endbr64, endbr32 */

/* Whether these bytes are before `place`: the page before its own may not be there. */
static WCT_PLAIN bool stands_before(uintptr_t place, const unsigned char* bytes, uintptr_t size) {
  if ((place & PAGE_MASK) < size && !wct_can_be_read(place - size)) {
    return false;
  }
  const unsigned char* const code = (const unsigned char*)(place - size);
  for (uintptr_t i = 0; i < size; ++i) {
    if (code[i] != bytes[i]) {
      return false;
    }
  }
  return true;
}

static WCT_PLAIN uintptr_t without_mark(uintptr_t place) {
#if defined(__x86_64__)
  static const unsigned char mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
#else
  static const unsigned char mark[] = {0xf3, 0x0f, 0x1e, 0xfb};
#endif
  return stands_before(place, mark, MARK_SIZE) ? place - MARK_SIZE : place;
}

#if defined(__i386__)
/* Of a function that aligns its stack: lea 4(%esp),%ecx; and $-16,%esp; push -4(%ecx). */
static WCT_PLAIN uintptr_t without_alignment(uintptr_t place) {
  static const unsigned char align[] = {0x8d, 0x4c, 0x24, 4, 0x83, 0xe4, 0xf0, 0xff, 0x71, 0xfc};
  return stands_before(place, align, sizeof align) ? place - sizeof align : place;
}
#else
static WCT_PLAIN uintptr_t without_alignment(uintptr_t place) { return place; }
#endif

static WCT_PLAIN uintptr_t call_before(uintptr_t pc) {
  static const unsigned char prefix[] = {0x67};
  const unsigned char* const code = (const unsigned char*)pc;
  const bool is_direct =
      code[-5] == 0xe8 &&
      !stands_before(pc - CALL_SIZE, prefix, 1); /* else linkers made it of the other */
  return is_direct ? pc - CALL_SIZE : pc - INDIRECT_CALL_SIZE;
}

/* Of a function that makes its stack pointer the frame pointer, as -pg has it. */
static WCT_PLAIN uintptr_t begin_by_prologue(uintptr_t pc) {
#if defined(__x86_64__)
  static const unsigned char prologue[] = {0x55, 0x48, 0x89, 0xe5};
#else
  static const unsigned char prologue[] = {0x55, 0x89, 0xe5};
#endif
  const uintptr_t call = call_before(pc);
  for (uintptr_t at = call; call - at < MOST_LOOKED_AT; --at) {
    if (stands_before(at, prologue, sizeof prologue)) {
      return without_mark(without_alignment(at - sizeof prologue));
    }
  }
  return pc;
}
#endif

#if defined(__aarch64__)
static WCT_PLAIN uintptr_t begin_by_prologue(uintptr_t pc) {
  const uintptr_t size = sizeof(uint32_t);
  for (uintptr_t at = pc; pc - at < MOST_LOOKED_AT; at -= size) {
    const uint32_t* const code = (const uint32_t*)(at - size);
    if ((at & PAGE_MASK) == 0 && !wct_can_be_read(at - size)) {
      break;
    }
    if ((*code & 0xffc07fffU) == 0xa9807bfdU) { /* stp x29, x30, [sp, #-N]! */
      const bool is_marked =
          ((at - size) & PAGE_MASK) >= size && (code[-1] == 0xd503233fU || code[-1] == 0xd503245fU);
      return is_marked ? at - 2 * size : at - size; /* paciasp, bti c */
    }
  }
  return pc;
}
#endif

/* The first byte of the function whose hook returns to `pc`; that place itself, where it cannot be
 * told. It is found once. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
static WCT_PLAIN uintptr_t function_of(uintptr_t pc) {
  struct wct_frame_size* const known = wct_self != NULL ? wct_size_of(wct_self, pc) : NULL;
  if (known != NULL && known->pc == pc) {
    return pc - (uintptr_t)known->size;
  }
  const uintptr_t begin = begin_by_prologue(pc);
  if (known != NULL) {
    known->size = pc - begin;
    known->pc = pc;
  }
  return begin;
}
#endif

#if defined(__x86_64__)
#define MOST_OF_PROLOGUE ((uintptr_t)48) /* bytes of code */

/* Whether pushing it keeps it for the caller: what else is pushed may be an argument. */
static WCT_PLAIN bool is_preserved(unsigned number) {
  return number == 3 || number == 5 || number >= 12; /* rbx, rbp, r12 to r15 */
}

/* What one instruction of a prologue adds to the frame: pushes of registers that are kept for the
 * caller, sub from %rsp; others, of which compilers put moves between, add nothing. Returns its
 * size; 0: no such instruction. */
static WCT_PLAIN uintptr_t prologue_step(const unsigned char* code, uintptr_t* frame) {
  const uintptr_t prefix = (*code & 0xf0U) == 0x40 ? 1 : 0;
  const unsigned char* const at = code + prefix;
  if ((at[0] & 0xf8U) == 0x50) { /* push */
    const unsigned number = (at[0] & 7U) | (prefix != 0 ? (code[0] & 1U) << 3U : 0U);
    *frame += is_preserved(number) ? sizeof(uintptr_t) : 0;
    return is_preserved(number) ? prefix + 1 : 0;
  }
  if (code[0] == 0x48 && at[0] == 0x83 && at[1] == 0xec && at[2] < 0x80) { /* sub $imm8, %rsp */
    *frame += at[2];
    return prefix + 3;
  }
  if (code[0] == 0x48 && at[0] == 0x81 && at[1] == 0xec && at[5] == 0) { /* sub $imm32, %rsp */
    *frame += at[2] | (uintptr_t)at[3] << 8U | (uintptr_t)at[4] << 16U;
    return prefix + 6;
  }
  const bool is_plain = at[0] == 0x89 || at[0] == 0x8b || at[0] == 0x31 || at[0] == 0x33 ||
                        at[0] == 0x85; /* mov, xor, test, of registers */
  return is_plain && at[1] >= 0xc0 ? prefix + 2 : 0;
}

static WCT_PLAIN uintptr_t least_frame(uintptr_t pc) {
  uintptr_t frame = sizeof(uintptr_t);
  for (uintptr_t at = pc; at - pc < MOST_OF_PROLOGUE;) {
    const uintptr_t size = prologue_step((const unsigned char*)at, &frame);
    if (size == 0) {
      break;
    }
    at += size;
  }
  return frame;
}
#elif defined(__i386__)
static WCT_PLAIN uintptr_t least_frame(uintptr_t pc) {
  (void)pc;
  return sizeof(uintptr_t);
}
#endif

#if defined(__x86_64__) || defined(__i386__)
static WCT_PLAIN WCT_RARE void enter_first(uintptr_t function, uintptr_t pc, uintptr_t site,
                                           struct wct_ends ends) {
  struct vectors kept;
  const bool by_xsave = has_xsave();
  keep_vectors(&kept, by_xsave);
  wct_enter_alone(function, pc, site, ends);
  restore_vectors(&kept, by_xsave);
}

static WCT_PLAIN void enter(uintptr_t function, uintptr_t pc, uintptr_t site,
                            struct wct_ends ends) {
  if (WCT_LIKELY(wct_self != NULL)) {
    wct_enter_alone(function, pc, site, ends);
  } else {
    enter_first(function, pc, site, ends);
  }
}

#define END_BY(frame) ((frame) + 2 * sizeof(uintptr_t)) /* by the frame pointer */

/* `end` is where the function's frame ends, behind its return address; the frame pointer is still
 * the caller's, where that has one. */
__attribute__((used)) WCT_PLAIN void wct_at_fentry(uintptr_t pc, uintptr_t site, uintptr_t end,
                                                   uintptr_t frame) {
  struct wct_frame_size* const known = wct_self != NULL ? wct_size_of(wct_self, pc) : NULL;
  const bool is_known = known != NULL && known->pc == pc; /* of both, one in each half */
  const uintptr_t least = is_known ? (uintptr_t)(known->size >> 8U) : least_frame(pc);
  const uintptr_t distance =
      is_known ? (uintptr_t)(known->size & 0xffU) : pc - without_mark(call_before(pc));
  if (known != NULL && !is_known) {
    known->size = (uint64_t)least << 8U | distance;
    known->pc = pc;
  }
  enter(pc - distance, pc, site, (struct wct_ends){end, END_BY(frame), least, false});
}

/* Of a function that has made its stack pointer the frame pointer already. */
__attribute__((used)) WCT_PLAIN void wct_at_mcount(uintptr_t pc, const uintptr_t* frame) {
  const struct wct_ends ends = {END_BY((uintptr_t)frame), END_BY(frame[0]), 2 * sizeof(uintptr_t),
                                true};
  enter(function_of(pc), pc, frame[1], ends);
}
#endif

#if defined(__x86_64__)
#define SAVE                                                             \
  "  movq %rax, 0(%rsp)\n  movq %rcx, 8(%rsp)\n  movq %rdx, 16(%rsp)\n"  \
  "  movq %rsi, 24(%rsp)\n  movq %rdi, 32(%rsp)\n  movq %r8, 40(%rsp)\n" \
  "  movq %r9, 48(%rsp)\n  movq %r10, 56(%rsp)\n  movq %r11, 64(%rsp)\n"
#define RESTORE                                                          \
  "  movq 0(%rsp), %rax\n  movq 8(%rsp), %rcx\n  movq 16(%rsp), %rdx\n"  \
  "  movq 24(%rsp), %rsi\n  movq 32(%rsp), %rdi\n  movq 40(%rsp), %r8\n" \
  "  movq 48(%rsp), %r9\n  movq 56(%rsp), %r10\n  movq 64(%rsp), %r11\n"
/* Its own return address, and behind that the function's: nothing was pushed yet. */
__asm__(
    ".text\n.p2align 4\n.globl __fentry__\n.type __fentry__, @function\n__fentry__:\n"
    "  .cfi_startproc\n  endbr64\n"
    "  subq $80, %rsp\n  .cfi_adjust_cfa_offset 80\n" SAVE
    "  movq 80(%rsp), %rdi\n  movq 88(%rsp), %rsi\n  leaq 96(%rsp), %rdx\n"
    "  movq %rbp, %rcx\n  call wct_at_fentry\n" RESTORE
    "  addq $80, %rsp\n  .cfi_adjust_cfa_offset -80\n  ret\n"
    "  .cfi_endproc\n.size __fentry__, .-__fentry__\n");
/* The stack pointer may be anything by now. */
__asm__(
    ".text\n.p2align 4\n.globl mcount\n.type mcount, @function\nmcount:\n"
    "  .cfi_startproc\n  endbr64\n"
    "  pushq %rbp\n  .cfi_adjust_cfa_offset 8\n  .cfi_rel_offset %rbp, 0\n"
    "  movq %rsp, %rbp\n  .cfi_def_cfa_register %rbp\n"
    "  subq $80, %rsp\n  andq $-16, %rsp\n" SAVE
    "  movq 8(%rbp), %rdi\n  movq 0(%rbp), %rsi\n"
    "  call wct_at_mcount\n" RESTORE
    "  leave\n  .cfi_def_cfa %rsp, 8\n  ret\n"
    "  .cfi_endproc\n.size mcount, .-mcount\n");
#elif defined(__i386__)
__asm__(
    ".text\n.p2align 4\n.globl __fentry__\n.type __fentry__, @function\n__fentry__:\n"
    "  .cfi_startproc\n  endbr32\n"
    "  pushl %ebp\n  .cfi_adjust_cfa_offset 4\n  .cfi_rel_offset %ebp, 0\n"
    "  movl %esp, %ebp\n  .cfi_def_cfa_register %ebp\n"
    "  subl $40, %esp\n  andl $-16, %esp\n"
    "  movl %eax, 16(%esp)\n  movl %ecx, 20(%esp)\n  movl %edx, 24(%esp)\n"
    "  movl 4(%ebp), %eax\n  movl %eax, 0(%esp)\n  movl 8(%ebp), %eax\n  movl %eax, 4(%esp)\n"
    "  leal 12(%ebp), %eax\n  movl %eax, 8(%esp)\n  movl 0(%ebp), %eax\n"
    "  movl %eax, 12(%esp)\n"
    "  call wct_at_fentry\n"
    "  movl 16(%esp), %eax\n  movl 20(%esp), %ecx\n  movl 24(%esp), %edx\n"
    "  leave\n  .cfi_def_cfa %esp, 4\n  ret\n"
    "  .cfi_endproc\n.size __fentry__, .-__fentry__\n");
__asm__(
    ".text\n.p2align 4\n.globl mcount\n.type mcount, @function\nmcount:\n"
    "  .cfi_startproc\n  endbr32\n"
    "  pushl %ebp\n  .cfi_adjust_cfa_offset 4\n  .cfi_rel_offset %ebp, 0\n"
    "  movl %esp, %ebp\n  .cfi_def_cfa_register %ebp\n"
    "  subl $40, %esp\n  andl $-16, %esp\n"
    "  movl %eax, 16(%esp)\n  movl %ecx, 20(%esp)\n  movl %edx, 24(%esp)\n"
    "  movl 4(%ebp), %eax\n  movl %eax, 0(%esp)\n  movl 0(%ebp), %eax\n  movl %eax, 4(%esp)\n"
    "  call wct_at_mcount\n"
    "  movl 16(%esp), %eax\n  movl 20(%esp), %ecx\n  movl 24(%esp), %edx\n"
    "  leave\n  .cfi_def_cfa %esp, 4\n  ret\n"
    "  .cfi_endproc\n.size mcount, .-mcount\n");
#elif defined(__aarch64__)
/* A call like any other: the function has its frame record, and its arguments are safe.
 * NOLINTBEGIN: the compiler's name */
WHOCALL_TRACE_API void _mcount(void* site);
WCT_PLAIN void _mcount(void* site) {
  /* NOLINTEND */
  const uintptr_t pc = (uintptr_t)__builtin_return_address(0);
  const uintptr_t* const record = *(const uintptr_t* const*)__builtin_frame_address(0);
  /* What its caller's record is at ends the frame, as far as anybody can tell. */
  const uintptr_t* const above = (const uintptr_t*)record[0];
  const bool is_record = record[0] % 16 == 0 && record[0] - (uintptr_t)record < WCT_NEAR;
  const struct wct_ends ends = {record[0], is_record ? above[0] : 0, 2 * sizeof(uintptr_t), true};
  wct_enter_alone(function_of(pc), pc, (uintptr_t)site, ends);
}
#elif defined(__arm__)
#define MOST_SCANNED ((uintptr_t)4096) /* bytes of a frame */

/* Behind the function's return address, which it has put into its frame; where the hook was called,
 * if it is not found. Found once, and looked at each time. */
static WCT_PLAIN uintptr_t end_of_frame(struct wct_frame_size* known, uintptr_t pc, uintptr_t site,
                                        uintptr_t sp) {
  if (known != NULL && known->pc == pc &&
      ((const uintptr_t*)(sp + (uintptr_t)known->size))[-1] == site) {
    return sp + (uintptr_t)known->size;
  }
  const uintptr_t* const words = (const uintptr_t*)sp;
  for (uintptr_t i = 0; i < MOST_SCANNED / sizeof(uintptr_t); ++i) {
    const uintptr_t at = (uintptr_t)&words[i];
    if (at % WCT_PAGE == 0 && !wct_can_be_read(at)) {
      break;
    }
    if (words[i] == site) {
      if (known != NULL) {
        known->size = at + sizeof(uintptr_t) - sp;
        known->pc = pc;
      }
      return at + sizeof(uintptr_t);
    }
  }
  return sp;
}

__attribute__((used)) WCT_PLAIN void wct_at_mcount(uintptr_t pc, uintptr_t site, uintptr_t sp) {
  struct wct_frame_size* const known = wct_self != NULL ? wct_size_of(wct_self, pc) : NULL;
  const uintptr_t end = end_of_frame(known, pc, site, sp);
  /* Where it begins nobody knows: the place of its hook stands for it. */
  wct_enter_alone(pc & ~(uintptr_t)1, pc, site, (struct wct_ends){end, 0, end - sp, false});
}
/* What the C library does in a thread's first hook may use the registers of floating point. */
#if defined(__ARM_PCS_VFP)
#define KEEP_FLOATS "  vpush {d0-d7}\n"
#define GIVE_FLOATS "  vpop {d0-d7}\n"
#else
#define KEEP_FLOATS
#define GIVE_FLOATS
#endif

/* The function has pushed its return address, which is taken off here. */
__asm__(
    ".text\n.syntax unified\n.arm\n.p2align 2\n.globl __gnu_mcount_nc\n"
    ".type __gnu_mcount_nc, %function\n__gnu_mcount_nc:\n"
    "  push {r0, r1, r2, r3, lr}\n"
    "  mov r0, lr\n  ldr r1, [sp, #20]\n  add r2, sp, #24\n" KEEP_FLOATS
    "  bl wct_at_mcount\n" GIVE_FLOATS
    "  pop {r0, r1, r2, r3, ip}\n  pop {lr}\n  bx ip\n"
    ".size __gnu_mcount_nc, .-__gnu_mcount_nc\n");
#endif
