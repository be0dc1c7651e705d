/* The notes of a core, as the kernel writes them: registers, signal, process, files. */
#pragma once

#include "mappings.h"
#include "tracee.h"

/* Whether the thread runs code of 32 bits. */
int is_narrow_thread(pid_t thread);

/* threads[0] dies of the signal `number`. */
struct bytes notes_of(const pid_t *threads, unsigned count, int number, const struct mapping *mappings, size_t mapped, int is_narrow);
