#define _GNU_SOURCE
#include "mappings.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracee.h"

enum filter { ANONYMOUS_PRIVATE = 1, ANONYMOUS_SHARED = 2, FILE_PRIVATE = 4, FILE_SHARED = 8, ELF_HEADERS = 16, HUGE_PRIVATE = 32, HUGE_SHARED = 64 };

/* The kernel's own rule. It knows whether a page of a mapping was ever a copy, we whether one is. */
static uint64_t dumped_size(const struct mapping *m, const char *flags, unsigned filter, int memory) {
    uint64_t size = m->end - m->start;
    int is_shared = strstr(flags, " sh") != NULL;
    char magic[SELFMAG];
    if (m->is_special)
        return size;
    if (strstr(flags, " dd") || strstr(flags, " io"))
        return 0;
    if (strstr(flags, " ht"))
        return filter & (is_shared ? HUGE_SHARED : HUGE_PRIVATE) ? size : 0;
    if (is_shared)
        return filter & (strstr(m->name, " (deleted)") ? ANONYMOUS_SHARED : FILE_SHARED) ? size : 0;
    if (m->has_anonymous && filter & ANONYMOUS_PRIVATE)
        return size;
    if (!m->has_file)
        return 0;
    if (filter & FILE_PRIVATE)
        return size;
    if (filter & ELF_HEADERS && !m->offset && m->flags & PF_R && pread(memory, magic, SELFMAG, (off_t)m->start) == SELFMAG &&
        !memcmp(magic, ELFMAG, SELFMAG))
        return PAGE;
    return 0;
}

/* The kernel writes a line feed in a path as \012. */
static char *raw_name(const char *written) {
    static const char line_feed[] = "\\012";
    char *name = strdup(written), *to = name;
    for (const char *from = written; *from;) {
        int is_one = !strncmp(from, line_feed, sizeof line_feed - 1);
        *to++ = is_one ? '\n' : *from;
        from += is_one ? sizeof line_feed - 1 : 1;
    }
    *to = 0;
    return name;
}

/* Of smaps: the head of a mapping, or nothing where the line is none. */
static int read_head(char *line, struct mapping *m) {
    unsigned long start, end, offset;
    char rights[5];
    int name = 0;
    if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &start, &end, rights, &offset, &name) < 4 || !name)
        return 0;
    line[strcspn(line, "\n")] = 0;
    *m = (struct mapping){.start = start, .end = end, .offset = offset, .name = raw_name(line + name)};
    m->flags = (rights[0] == 'r' ? PF_R : 0) | (rights[1] == 'w' ? PF_W : 0) | (rights[2] == 'x' ? PF_X : 0);
    m->is_special = !strncmp(m->name, "[v", 2); /* the vdso and its like */
    m->has_file = m->name[0] == '/' || !strncmp(m->name, "anon_inode:", 11);
    return 1;
}

size_t read_mappings(pid_t process, int memory, struct mapping *mappings) {
    struct bytes filter = read_of(process, "coredump_filter");
    FILE *file = open_of(process, "smaps");
    static char line[8192];
    size_t count = 0;
    unsigned long size;
    while (file && fgets(line, sizeof line, file)) {
        struct mapping *last = count ? &mappings[count - 1] : NULL;
        if (count < MOST_MAPPINGS && read_head(line, &mappings[count]))
            count++;
        else if (last && (sscanf(line, "Anonymous: %lu", &size) == 1 || sscanf(line, "Swap: %lu", &size) == 1))
            last->has_anonymous |= size > 0;
        else if (last && !strncmp(line, "VmFlags:", 8))
            last->dumped = dumped_size(last, line, (unsigned)strtoul(filter.data, NULL, 16), memory);
    }
    if (file)
        fclose(file);
    free(filter.data);
    return count;
}
