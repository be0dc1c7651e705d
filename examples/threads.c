/* Twelve workers wait for jobs on identical stacks, and the thread that fills the queue crashes.
 * gdb prints the same nameless frames a dozen times, and the culprit after them;
 * `whocall bt -all` folds the equal stacks into one with a count.
 *
 * Build: gcc -O2 -pthread -o threads threads.c
 */
#include <pthread.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

enum { workers = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, waiting = PTHREAD_COND_INITIALIZER;
static int idle, jobs;
static int *volatile queue; /* forgotten: nobody allocates it */

NOINLINE int take_job(void) {
    pthread_mutex_lock(&lock);
    idle++;
    pthread_cond_signal(&waiting);
    while (jobs == 0)
        pthread_cond_wait(&filled, &lock);
    int job = jobs--;
    pthread_mutex_unlock(&lock);
    return job;
}

NOINLINE void *worker(void *name) {
    for (;;)
        printf("%s has job %d\n", (const char *)name, take_job());
}

NOINLINE int put_job(int job) {
    return queue[job] = job; /* the crash */
}

NOINLINE int fill_queue(int count) {
    int put = 0;
    for (int job = 0; job < count; job++)
        put += put_job(job);
    return put;
}

NOINLINE void *producer(void *unused) {
    pthread_mutex_lock(&lock);
    while (idle < workers) /* let all of them fall asleep first */
        pthread_cond_wait(&waiting, &lock);
    pthread_mutex_unlock(&lock);
    jobs = fill_queue(100);
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < workers; i++)
        pthread_create(&thread, NULL, worker, "worker");
    pthread_create(&thread, NULL, producer, NULL);
    return pthread_join(thread, NULL);
}
