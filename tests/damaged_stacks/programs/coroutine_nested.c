/* A coroutine that runs another one, which was resumed from deep inside: each has a stack of its own (makecontext). */
#include <stdlib.h>
#include <ucontext.h>

#include "truth.h"

static ucontext_t home, outer, inner;

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int yield(int x) {
    TRUTH_ENTER(yield);
    swapcontext(&inner, &outer);
    x += fault(x);
    TRUTH_LEAVE();
    return x;
}

NOINLINE void produce(int x, int y) {
    TRUTH_ENTER(produce);
    truth_zero = yield(x + y) + 1;
    TRUTH_LEAVE();
}

NOINLINE int resume(int x) { /* no record: it is on another stack than the one that crashes */
    char room[80];
    char *volatile escape = room;
    escape[0] = (char)x;
    swapcontext(&outer, &inner);
    return escape[0] + 1;
}

NOINLINE void consume(int x) {
    truth_zero = resume(x) + resume(x + 1);
}

static void prepare(ucontext_t *context, size_t size, ucontext_t *link) {
    getcontext(context);
    context->uc_stack.ss_sp = malloc(size);
    context->uc_stack.ss_size = size;
    context->uc_link = link;
}

int main(void) {
    truth_zero = 0;
    prepare(&outer, 64 * 1024, &home);
    makecontext(&outer, (void (*)(void))consume, 1, 3);
    prepare(&inner, 256 * 1024, &outer);
    makecontext(&inner, (void (*)(void))produce, 2, 4, 5);
    swapcontext(&home, &outer);
    return 0;
}
