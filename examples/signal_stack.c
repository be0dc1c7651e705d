/* A handler on its own stack turns a SIGSEGV into a report and aborts: the chain crosses from the
 * alternate stack back to the one that faulted. Without unwind tables gdb ends above the handler;
 * whocall walks over the signal frame and goes on from the faulting instruction.
 *
 * Build: gcc -O2 -fno-asynchronous-unwind-tables -o signal_stack signal_stack.c
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static char alternate[64 * 1024];
static int *volatile sensor; /* never connected */
volatile int readings;

NOINLINE void report(const char *text, size_t length) {
    if (write(STDERR_FILENO, text, length) < 0)
        readings = 0;
    abort();
}

NOINLINE void on_fault(int number) {
    static const char text[] = "segmentation fault, last words\n";
    report(text, sizeof text - 1);
    readings = number;
}

NOINLINE int read_sensor(int channel) {
    return sensor[channel]; /* the fault */
}

NOINLINE int average(int first, int last) {
    int sum = 0;
    for (int channel = first; channel < last; channel++)
        sum += read_sensor(channel);
    readings++;
    return sum / (last - first);
}

NOINLINE int control_loop(int rounds) {
    int level = 0;
    while (rounds-- > 0)
        level += average(0, 8);
    return level;
}

int main(void) {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    return control_loop(100);
}
