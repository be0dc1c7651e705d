/* A crash in a forked child: its stack holds frames that its parent pushed. */
#include <sys/wait.h>

#include "truth.h"

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int spawn(int x) {
    TRUTH_ENTER(spawn);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        truth_self->tid = (uintptr_t)getpid();
        x = fault(x) + 1;
    }
    waitpid(child, &status, 0);
    TRUTH_LEAVE();
    return WTERMSIG(status) + x;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = spawn(argc) + 1;
    TRUTH_LEAVE();
    return y;
}
