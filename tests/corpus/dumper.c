/* Run a program that leaves a core file when it dies, whatever the kernel would do with that core.
 *
 *     dumper NAME PROGRAM [ARGUMENT...]
 *
 * This process becomes the program: its id, its parent and the way it ends are as without us. Beside it a tracer, which is
 * nobody's child, sees each signal before it does. Of one that is about to end the program or a process of its own with a
 * core, it first writes the file NAME in the folder where that process is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracee.h"
#include "writer.h"

#define MOST_THREADS 4096

static void dump(const char *name, pid_t dying, int number) {
    static pid_t found[MOST_THREADS], stopped[MOST_THREADS];
    unsigned count = other_threads(dying, found, MOST_THREADS - 1), kept = 1;
    pid_t process = process_of(dying);
    stopped[0] = dying;
    for (unsigned i = 0; i < count; i++)
        if (stop_thread(process, found[i]))
            stopped[kept++] = found[i];
    write_core(name, stopped, kept, number);
}

static void on_stop(const char *name, pid_t id, int status) {
    int number = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_STOP && number != SIGTRAP) {
        ptrace(PTRACE_LISTEN, id, NULL, NULL); /* a shell has stopped it */
        return;
    }
    if (!event && leaves_core(id, number))
        dump(name, id, number);
    ptrace(PTRACE_CONT, id, NULL, (void *)(long)(event ? 0 : number));
}

static void trace(const char *name, pid_t program, int ready) {
    long all = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, program, NULL, (void *)all) != 0)
        _exit(1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    setsid();
    for (int fd = 0; fd < 1024; fd++) /* who waits for the end of the program's output is not to wait for ours */
        close(fd);
    int status;
    for (pid_t id; (id = waitpid(-1, &status, __WALL)) > 0;)
        if (WIFSTOPPED(status))
            on_stop(name, id, status);
    _exit(0);
}

int main(int argc, char **argv) {
    int ready[2];
    char byte;
    if (argc < 3 || pipe2(ready, O_CLOEXEC) != 0)
        return 2;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        if (fork() == 0)
            trace(argv[1], self, ready[1]);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        return 126;
    close(ready[0]);
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    execvp(argv[2], argv + 2);
    return 127;
}
