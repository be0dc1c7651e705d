/* The fourth voice: run a program one instruction at a time until it dies and keep each thread's true call stack.
 *
 *     stepper OUTPUT PROGRAM [CORE]
 *
 * A call is seen as it happens (the stack pointer went down by one word and the word there is the address just behind the
 * instruction), a return as the stack pointer rising above that word.  No unwind tables, symbols or frame pointers are
 * needed, so this holds where every debugger must guess: C libraries without CFI, hand-written assembly.
 * Limits: x86-64 and i386, and no switching of stacks within a thread except by signals.
 *
 * OUTPUT gets a line per thread: its id, then the return addresses and interrupted addresses, innermost first, each as
 * SP:PC, where SP is the address of the return address, or the stack pointer at the interruption, which gets a second colon.
 * Behind a return address of x86-64 stands "=" and what the call left in the six registers of arguments, with commas.
 * CORE is a core file that is written, in the folder where the program is, when it dies: for kernels that write none.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracee.h"
#include "writer.h"

#define MAX_THREADS 64
#define MAX_ENTRIES 65536
#define CODE_SEGMENT_32 0x23

struct entry {
    uint64_t sp; /* of the return address, or at the interruption */
    uint64_t pc; /* the return address, or where the signal interrupted */
    int is_signal;
    uint64_t arguments[6]; /* rdi, rsi, rdx, rcx, r8, r9 as the call left them */
};

struct thread {
    pid_t id;
    int known, held, in_signal; /* told by its creator; waiting for that; a handler begins at the next stop */
    uint64_t pc, sp;            /* at the last stop */
    unsigned count;
    struct entry *entries;
};

static struct thread threads[MAX_THREADS];
static unsigned thread_count;
static const char *core_name; /* NULL: the kernel writes it */

static struct thread *thread_of(pid_t id) {
    for (unsigned i = 0; i < thread_count; i++)
        if (threads[i].id == id)
            return &threads[i];
    if (thread_count == MAX_THREADS)
        exit(3);
    struct thread *made = &threads[thread_count++];
    made->id = id;
    made->entries = calloc(MAX_ENTRIES, sizeof *made->entries);
    return made;
}

static uint64_t read_word(pid_t id, uint64_t address, unsigned size) {
    errno = 0;
    uint64_t word = (uint64_t)ptrace(PTRACE_PEEKDATA, id, (void *)address, NULL);
    return errno ? 0 : size == 4 ? (uint32_t)word : word;
}

static void push(struct thread *t, uint64_t sp, uint64_t pc, int is_signal) {
    if (t->count == MAX_ENTRIES)
        exit(4);
    t->entries[t->count++] = (struct entry){sp, pc, is_signal, {0}};
}

static void push_call(struct thread *t, uint64_t pc, const struct user_regs_struct *regs) {
    push(t, regs->rsp, pc, 0);
    uint64_t *arguments = t->entries[t->count - 1].arguments;
    const uint64_t now[6] = {regs->rdi, regs->rsi, regs->rdx, regs->rcx, regs->r8, regs->r9};
    memcpy(arguments, now, sizeof now);
}

/* Situation: a pushed word that lies right behind its push looks like a return address. Example: i386's _start hands
 * `main` over, which the linker put behind it. Remedy: only `call` leaves one, with or without prefixes. */
static int is_call(pid_t id, uint64_t pc, unsigned word) {
    static const unsigned char prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3};
    unsigned char code[16];
    for (unsigned at = 0; at < sizeof code; at += word) {
        uint64_t read = read_word(id, pc + at, word);
        memcpy(code + at, &read, word);
    }
    unsigned at = 0;
    while (at < sizeof code - 2 &&
           (memchr(prefixes, code[at], sizeof prefixes) || (word == 8 && code[at] >> 4 == 4)))
        at++;
    return code[at] == 0xe8 || (code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2);
}

static void step(struct thread *t) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, t->id, NULL, &regs) != 0)
        return;
    unsigned word = regs.cs == CODE_SEGMENT_32 ? 4 : 8;
    uint64_t top = t->sp - regs.rsp == word || t->in_signal ? read_word(t->id, regs.rsp, word) : 0;
    if (t->in_signal) {
        push(t, t->sp, t->pc, 1);
        push(t, regs.rsp, top, 0);
        t->in_signal = 0;
    } else if (t->sp - regs.rsp == word && top > t->pc && top <= t->pc + 15 &&
               is_call(t->id, t->pc, word)) {
        push_call(t, top, &regs);
    } else {
        while (t->count) {
            struct entry *e = &t->entries[t->count - 1];
            if (e->is_signal ? e->sp != regs.rsp || e->pc != regs.rip : e->sp >= regs.rsp)
                break;
            t->count--;
        }
    }
    t->pc = regs.rip;
    t->sp = regs.rsp;
}

static int is_step(pid_t id, int number);

/* What another thread has done until it is stopped belongs to its stack in the core. */
static void dump(pid_t dying, int number) {
    pid_t found[MAX_THREADS], stopped[MAX_THREADS] = {dying}, process = process_of(dying);
    unsigned count = other_threads(dying, found, MAX_THREADS - 1), kept = 1;
    for (unsigned i = 0; i < count; i++) {
        int status = stop_thread(process, found[i]);
        if (!status)
            continue;
        if (status >> 16 == 0 && is_step(found[i], WSTOPSIG(status)))
            step(thread_of(found[i]));
        stopped[kept++] = found[i];
    }
    write_core(core_name, stopped, kept, number);
}

static int is_caught(pid_t id, int number) {
    char path[64], line[256];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)id);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (status)
        fclose(status);
    return caught >> (number - 1) & 1;
}

static int is_step(pid_t id, int number) {
    siginfo_t info;
    if (number != SIGTRAP || ptrace(PTRACE_GETSIGINFO, id, NULL, &info) != 0)
        return 0;
    return info.si_code > 0 && info.si_code != SI_KERNEL; /* SI_KERNEL: the program's own int3 */
}

static void introduce(struct thread *parent, int event) {
    unsigned long id = 0;
    ptrace(PTRACE_GETEVENTMSG, parent->id, NULL, &id);
    struct thread *child = thread_of((pid_t)id);
    child->known = 1;
    if (event != PTRACE_EVENT_CLONE) { /* a fork: the stack is a copy */
        child->count = parent->count;
        child->pc = parent->pc;
        child->sp = parent->sp;
        memcpy(child->entries, parent->entries, parent->count * sizeof *child->entries);
    }
    if (child->held)
        ptrace(PTRACE_SINGLESTEP, child->id, NULL, NULL);
}

static void on_stop(struct thread *t, int status) {
    int number = WSTOPSIG(status), event = status >> 16;
    long pass_on = 0;
    if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
        introduce(t, event);
    } else if (!t->pc && number == SIGSTOP) { /* a thread's birth */
        step(t);
        if (!t->known) {
            t->held = 1;
            return;
        }
    } else if (is_step(t->id, number)) {
        step(t);
    } else {
        t->in_signal = is_caught(t->id, number);
        if (core_name && leaves_core(t->id, number))
            dump(t->id, number);
        pass_on = number;
    }
    ptrace(PTRACE_SINGLESTEP, t->id, NULL, (void *)pass_on);
}

/* The program's entry point, from the auxiliary vector. */
static uint64_t entry_point(pid_t id) {
    char path[64];
    unsigned char bytes[1024];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)id);
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    struct user_regs_struct regs;
    ptrace(PTRACE_GETREGS, id, NULL, &regs);
    size_t word = regs.cs == CODE_SEGMENT_32 ? 4 : 8;
    for (size_t at = 0; at + 2 * word <= size; at += 2 * word) {
        uint64_t key = 0, value = 0;
        memcpy(&key, bytes + at, word);
        memcpy(&value, bytes + at + word, word);
        if (key == AT_ENTRY)
            return value;
    }
    return 0;
}

static int set_debug_register(pid_t id, size_t number, uint64_t value) {
    void *at = (void *)(offsetof(struct user, u_debugreg) + number * sizeof(uint64_t));
    return ptrace(PTRACE_POKEUSER, id, at, (void *)value) == 0;
}

/* Run at full speed through the dynamic loader: at the program's entry point the stack is empty.
 * A breakpoint written into the code would make the kernel dump all of it, as of a changed mapping: hence the processor's own,
 * or, where that is not to be had, single steps. */
static void run_to_entry(pid_t id) {
    int status;
    ptrace(PTRACE_CONT, id, NULL, NULL); /* to the exec event */
    waitpid(id, &status, 0);
    uint64_t entry = entry_point(id);
    if (set_debug_register(id, 0, entry) && set_debug_register(id, 7, 1)) {
        ptrace(PTRACE_CONT, id, NULL, NULL);
        waitpid(id, &status, 0);
        set_debug_register(id, 7, 0);
        return;
    }
    struct user_regs_struct regs = {0};
    while (regs.rip != entry && ptrace(PTRACE_SINGLESTEP, id, NULL, NULL) == 0 && waitpid(id, &status, 0) == id && WIFSTOPPED(status))
        ptrace(PTRACE_GETREGS, id, NULL, &regs);
}

/* Of two processes that wait for each other at every step, each is asleep while the other runs. On one processor a step takes
 * a quarter of the time: none has to be woken up. */
static void stay_on_this_processor(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void print_entry(FILE *output, const struct entry *e) {
    fprintf(output, " %#llx:%#llx%s", (unsigned long long)e->sp, (unsigned long long)e->pc, e->is_signal ? ":" : "");
    for (unsigned i = 0; i < 6 && !e->is_signal; i++)
        fprintf(output, "%c%#llx", i ? ',' : '=', (unsigned long long)e->arguments[i]);
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4)
        return 2;
    core_name = argv[3];
    stay_on_this_processor();
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execv(argv[2], (char *[]){argv[2], NULL});
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL,
           (void *)(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
    thread_of(child)->known = 1;
    run_to_entry(child);
    step(thread_of(child));
    ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
    for (pid_t id; (id = waitpid(-1, &status, __WALL)) > 0;)
        if (WIFSTOPPED(status))
            on_stop(thread_of(id), status);
    FILE *output = fopen(argv[1], "w");
    for (unsigned i = 0; output && i < thread_count; i++) {
        fprintf(output, "%d", (int)threads[i].id);
        for (unsigned k = threads[i].count; k-- > 0;)
            print_entry(output, &threads[i].entries[k]);
        fputc('\n', output);
    }
    return output && fclose(output) == 0 ? 0 : 1;
}
