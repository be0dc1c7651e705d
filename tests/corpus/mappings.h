/* What a process has mapped, and how much of it the kernel would dump. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE 4096ul
#define MOST_MAPPINGS 65000 /* as a header counts them */

struct mapping {
    uint64_t start, end, offset; /* in the file, in bytes */
    uint64_t dumped;             /* bytes */
    uint32_t flags;              /* of the program header */
    int has_file, is_special, has_anonymous;
    char *name;
};

/* Into room for MOST_MAPPINGS; `memory` is open for reading. How many there are; their names are the caller's to free. */
size_t read_mappings(pid_t process, int memory, struct mapping *mappings);
