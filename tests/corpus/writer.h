/* Writes the core file of a process whose threads a tracer has stopped, as the kernel would write it. x86-64 and i386. */
#pragma once

#include <sys/types.h>

/* Whether the process of this thread would leave a core if the signal, at which it has stopped, were passed on. */
int leaves_core(pid_t thread, int number);

/* Have a traced thread stop, and wait for it. Its status as of waitpid; 0 where it cannot be stopped. */
int stop_thread(pid_t process, pid_t thread);

/* The other threads of the process of `thread`: how many of them fit into `others`. */
unsigned other_threads(pid_t thread, pid_t *others, unsigned room);

pid_t process_of(pid_t thread);

/* The file `name`, in the folder where the process is. threads[0] dies of the signal `number`. 0, or -1. */
int write_core(const char *name, const pid_t *threads, unsigned count, int number);
