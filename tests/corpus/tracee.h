/* The threads that a tracer has, and what /proc tells of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Whether the process of this thread would leave a core if the signal, at which it has stopped, were passed on. */
int leaves_core(pid_t thread, int number);

/* Have a traced thread stop, and wait for it. Its status as of waitpid; 0 where it cannot be stopped. */
int stop_thread(pid_t process, pid_t thread);

/* The other threads of the process of `thread`: how many of them fit into `others`. */
unsigned other_threads(pid_t thread, pid_t *others, unsigned room);

pid_t process_of(pid_t thread);

struct bytes {
    char *data;
    size_t size;
};

void append(struct bytes *to, const void *from, size_t size);

/* A file of /proc/ID: to be read line by line, NULL where it is not there; as a whole, with a NUL behind it. */
FILE *open_of(pid_t id, const char *name);
struct bytes read_of(pid_t id, const char *name);

/* The number behind the key in its status; 0 where there is none. */
uint64_t status_of(pid_t id, const char *key, int base);
