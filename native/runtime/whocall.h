/* libwhocall: a program asks who called it.
 *
 * Nothing here allocates memory, takes a lock or touches a buffer of the C library, so that all but
 * whocall_prepare() may be called in signal handlers, also in one that a crash runs. Strings and
 * build ids in frames lie in memory that stays as long as the process.
 *
 * Frames are found by unwind tables (.eh_frame; .ARM.exidx), where a function has none by rules
 * that were computed ahead and lie in a file beside the module (PATH.whocall, by `whocall export`;
 * it counts if nobody could have written it but root and those who may write the module, and never
 * in programs with rights that who starts them lacks) or by those of its debug file (.debug_frame),
 * else by its instructions (x86-64, AArch64; MIPS: its first ones) or the chain of frame pointers;
 * every frame says which.
 * Linux; x86-64, i386, AArch64, ARM, MIPS, RISC-V, LoongArch. Static programs that
 * were linked without -Wl,--eh-frame-hdr have their table read from their file.
 */
#ifndef WHOCALL_H
#define WHOCALL_H

/* NOLINTBEGIN: a header of C */
#include <stddef.h>
#include <stdint.h>

#define WHOCALL_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* How a frame was found, the surest first. */
typedef enum whocall_trust {
  WHOCALL_CONTEXT,      /* where the walk began, or registers that the kernel saved */
  WHOCALL_CFI,          /* by the callee's unwind table, or what its compiler wrote for debuggers */
  WHOCALL_ANALYSIS,     /* by the callee's instructions, now or when rules were computed ahead; or
                           it is no code: then calls left it so */
  WHOCALL_FRAME_POINTER /* by the callee's frame pointer, which nothing vouches for */
} whocall_trust;

typedef struct whocall_frame {
  uintptr_t address;  /* where the frame goes on: of a caller the return address */
  uintptr_t offset;   /* the same as an address in the module's file (its link address) */
  const char* module; /* path; "" where the address lies in no loaded file */
  const unsigned char* build_id; /* of the module in memory; NULL: it has none */
  size_t build_id_size;          /* bytes */
  const char* function;          /* as the linker knows it; NULL: no symbol covers the address */
  size_t function_offset;        /* from the function's first byte to the address, bytes */
  whocall_trust trust;
} whocall_frame;

/* The return addresses on the stack, the caller's own first: as backtrace() of <execinfo.h>, and
 * faster. Returns how many there are, `count` at most. */
WHOCALL_API size_t whocall_capture(void** addresses, size_t count);

/* The same with all that is known of each frame. */
WHOCALL_API size_t whocall_backtrace(whocall_frame* frames, size_t count);

/* The stack that a signal interrupted; `context` is the third argument of its handler (SA_SIGINFO).
 * The first frame is the interrupted one. Every word of the stack is read with care: a stack that
 * was overwritten or unmapped ends the walk, and not the process. */
WHOCALL_API size_t whocall_backtrace_context(const void* context, whocall_frame* frames,
                                             size_t count);

/* Who the caller of this function is, and who called that. Without a frame a line goes to the
 * standard error stream, also where the answer is that nobody can tell. 0: found; -1: there is no
 * such frame. */
WHOCALL_API int who_am_i(whocall_frame* frame);
WHOCALL_API int who_call_me(whocall_frame* caller);

/* The function around an address of code. 0: the address lies in a module; -1: in none. */
WHOCALL_API int find_function_by_addr(const void* address, whocall_frame* frame);

/* Writes a line for each frame to a file descriptor:
 * "#0  0x0000555555555139 module(+0x1139) function+0x9 [cfi]", "?" for what is not known. */
WHOCALL_API void whocall_print(int fd, const whocall_frame* frames, size_t count);

/* Prepares what would else be done when somebody asks: opens the files that have the names of
 * functions and unwinding rules computed ahead, of all modules that are loaded now, sorts the
 * rules, and walks this stack once. C libraries that do not tell of modules in signal handlers (all
 * but glibc 2.35 and newer) and static programs have to call it after dlopen(); at the start their
 * modules are listed anyway. It also forgets what is known of functions, for programs that close a
 * library and open a changed one in its place. */
WHOCALL_API void whocall_prepare(void);

/* What is done when the program crashes. Begin with WHOCALL_CRASH_OPTIONS and change what should be
 * otherwise. Strings and memory have to stay. */
typedef struct whocall_crash_options {
  size_t size;             /* of this structure, bytes */
  int text_fd;             /* the report as text goes here; -1: nowhere */
  const char* text_path;   /* or to the end of this file, made when a crash happens for its owner
                              alone; "%p" in it stands for the process; NULL, or where it is a
                              link, another user's or no file, pipe or terminal: to text_fd */
  int record_fd;           /* the record (a few KiB, see docs/crash.md) goes here; -1: nowhere */
  const char* record_path; /* or to the end of this file, as with text_path */
  void* memory;            /* a region for a ring of records; NULL: none */
  const char* ring_path;   /* or a file for one, made and mapped by whocall_install() */
  size_t ring_size;        /* of either, bytes */
  size_t slot_size;        /* of each record in the ring, a multiple of 512 bytes; 0: 4096 */
  int all_threads;         /* other threads tell their stacks too */
  int before_handlers;     /* the report is made before a handler that was there is called: also
                              where that recovers, or ends the process by _exit() */
  int question_signal;     /* each such signal makes a report, of the thread that it comes to and,
                              if they are wanted, of the others; then the program goes on. 0: none */
  const char* receiver;    /* the socket of `whocall receive`, which makes the report while the
                              process stands still, and this one none; where nobody is there,
                              or a report is not made within two minutes, this one makes it */
} whocall_crash_options;

#define WHOCALL_CRASH_OPTIONS \
  { sizeof(whocall_crash_options), 2, NULL, -1, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL }

/* From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP make a report; then they take
 * their course: the process ends and a core is written as if nobody had looked. A handler that was
 * there has them first, with its mask and flags: a crash that it recovers from makes no report, and
 * one does when it returns with the default restored, sends the signal again, or ends the process
 * by abort() or exit(). A question signal that the program handles or ignores is an error (EBUSY),
 * and so is one of those of crashes (EINVAL). NULL: all options as they are, the text on standard
 * error. Once more: with other options. 0: done; -1: not, and errno says why. Call it before
 * threads begin; the calling thread gets a stack for handlers, as by whocall_install_thread(). */
WHOCALL_API int whocall_install(const whocall_crash_options* options);

/* What the reports of this process tell of it, in text and record: "annotation: release = 4.2".
 * Both are copied. A key has at most 31 bytes, none of them a control letter or "="; a value is cut
 * behind 127 bytes, and its control letters become "?". 16 keys have room. NULL as a value: no more
 * of it. 0: done; -1: not, and errno says why: EINVAL for such a key, ENOSPC for one too many,
 * EAGAIN where this thread's signal came in the middle of another call, or one hangs. */
WHOCALL_API int whocall_annotate(const char* key, const char* value);

/* A stack for the handler in the calling thread, so that its own may overflow or vanish; freed when
 * the thread ends. Without it a report is written on the thread's own stack. 0: done; -1: not, and
 * errno says why. libwhocall-crash.so does it in all threads by itself. */
WHOCALL_API int whocall_install_thread(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND */
#endif
