/* A crash in a thread with the smallest stack allowed. */
#include <limits.h>
#include <pthread.h>

#include "truth.h"

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE void *thread(void *argument) {
    truth_attach();
    TRUTH_ENTER(thread);
    usleep(20000); /* let main reach pthread_join */
    int y = fault(3) + 1;
    TRUTH_LEAVE();
    return (char *)argument + y;
}

int main(void) {
    TRUTH_ENTER(main);
    pthread_t handle;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    pthread_create(&handle, &attributes, thread, NULL);
    pthread_join(handle, NULL);
    TRUTH_LEAVE();
    return 0;
}
