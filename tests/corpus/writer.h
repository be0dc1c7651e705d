/* Writes the core file of a process whose threads a tracer has stopped, as the kernel would write it. x86-64 and i386. */
#pragma once

#include <sys/types.h>

/* The file `name`, in the folder where the process is. threads[0] dies of the signal `number`. 0, or -1. */
int write_core(const char *name, const pid_t *threads, unsigned count, int number);
