/* Eight threads blocked at various depths and in various calls while a ninth crashes. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "truth.h"

#define BLOCKED 8
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int pipe_ends[2];
static volatile int ready;

NOINLINE int block(int how) {
    TRUTH_ENTER(block);
    char byte = 0;
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    if (how % 4 == 0) {
        pthread_mutex_lock(&lock);
        while (byte == 0)
            pthread_cond_wait(&never, &lock);
    } else if (how % 4 == 1) {
        sleep(1000);
    } else if (how % 4 == 2) {
        how += (int)read(pipe_ends[0], &byte, 1);
    } else {
        struct timespec pause_time = {1000, 0};
        nanosleep(&pause_time, NULL);
    }
    TRUTH_LEAVE();
    return how + byte;
}

NOINLINE int descend(int level, int how) {
    TRUTH_ENTER(descend);
    int y = level > 0 ? descend(level - 1, how) + 1 : block(how) + 2;
    TRUTH_LEAVE();
    return y;
}

NOINLINE void *blocked_thread(void *argument) {
    truth_attach();
    TRUTH_ENTER(blocked_thread);
    int number = (int)(intptr_t)argument;
    number = descend(number, number);
    TRUTH_LEAVE();
    return (void *)(intptr_t)number;
}

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE void *crashing_thread(void *argument) {
    truth_attach();
    TRUTH_ENTER(crashing_thread);
    while (ready < BLOCKED)
        usleep(1000);
    usleep(100000);
    int y = fault(3) + 1;
    TRUTH_LEAVE();
    return (char *)argument + y;
}

int main(void) {
    TRUTH_ENTER(main);
    pthread_t threads[BLOCKED + 1];
    if (pipe(pipe_ends) != 0)
        exit(2);
    for (intptr_t i = 0; i < BLOCKED; i++)
        pthread_create(&threads[i], NULL, blocked_thread, (void *)i);
    pthread_create(&threads[BLOCKED], NULL, crashing_thread, NULL);
    for (int i = 0; i <= BLOCKED; i++)
        pthread_join(threads[i], NULL);
    TRUTH_LEAVE();
    return 0;
}
