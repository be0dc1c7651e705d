/* The recorded truth: a shadow stack that each thread keeps in plain memory.
 *
 * Every function of interest says TRUTH_ENTER(own_name) first and TRUTH_LEAVE() last (C++: TRUTH_SCOPE).  A record holds
 * the exact return address of the function's frame and the source line of the TRUTH_ENTER.  The name itself is never
 * compiled in (the oracle reads it from that source line), nor is any function's address taken: a stripped binary must
 * not learn from the oracle what a stripped reader could not know.
 *
 * All fields are words of the machine, so that a reader needs the pointer size only.
 * A program of several files defines TRUTH_FILE as 1 in its library: that one borrows the registry of the executable.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef TRUTH_DEPTH
#define TRUTH_DEPTH 64
#endif
#ifndef TRUTH_THREADS
#define TRUTH_THREADS 12
#endif
#ifndef TRUTH_FILE
#define TRUTH_FILE 0
#endif
#define TRUTH_MAGIC 0x7472757468u /* "truth", cut to the word */

struct truth_record {
    uintptr_t where; /* TRUTH_FILE << 16 | line */
    void *return_address;
};

struct truth_thread {
    uintptr_t tid;
    uintptr_t depth;
    struct truth_record records[TRUTH_DEPTH];
};

struct truth_registry {
    uintptr_t magic, depth_limit, thread_limit, used;
    struct truth_thread threads[TRUTH_THREADS];
};

#ifdef __cplusplus
extern "C" {
#endif

#if TRUTH_FILE == 0
struct truth_registry truth_registry = {(uintptr_t)TRUTH_MAGIC, TRUTH_DEPTH, TRUTH_THREADS, 0, {}};
__thread struct truth_thread *truth_self;

/* Give the calling thread its shadow stack; main's is given before any other constructor runs. */
__attribute__((noinline)) void truth_attach(void) {
    uintptr_t slot = __atomic_fetch_add(&truth_registry.used, 1, __ATOMIC_SEQ_CST);
    truth_self = &truth_registry.threads[slot];
    truth_self->tid = (uintptr_t)syscall(SYS_gettid);
}

__attribute__((constructor(101))) static void truth_attach_main(void) { truth_attach(); }
#else
extern __thread struct truth_thread *truth_self __attribute__((tls_model("initial-exec")));
#endif

#ifdef __cplusplus
}
#endif

#define TRUTH_PUSH(line, address)                                                \
    do {                                                                         \
        struct truth_thread *truth_t = truth_self;                               \
        struct truth_record *truth_r = &truth_t->records[truth_t->depth];        \
        truth_r->where = (uintptr_t)TRUTH_FILE << 16 | (uintptr_t)(line);        \
        truth_r->return_address = (address);                                     \
        truth_t->depth++;                                                        \
        __asm__ volatile("" ::: "memory");                                       \
    } while (0)

#define TRUTH_ENTER(name) TRUTH_PUSH(__LINE__, __builtin_return_address(0))

/* Standing after the last call, this also keeps that call from becoming a tail call. */
#define TRUTH_LEAVE()                                                            \
    do {                                                                         \
        __asm__ volatile("" ::: "memory");                                       \
        truth_self->depth--;                                                     \
    } while (0)

#ifdef __cplusplus
struct truth_scope {
    __attribute__((always_inline)) truth_scope(int line, void *address) { TRUTH_PUSH(line, address); }
    __attribute__((always_inline)) ~truth_scope() { TRUTH_LEAVE(); }
};
#define TRUTH_SCOPE(name) truth_scope truth_guard(__LINE__, __builtin_return_address(0))
#endif

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* Values that the optimiser cannot see through. */
static int *volatile truth_null __attribute__((unused));
static volatile int truth_zero __attribute__((unused));

#endif
