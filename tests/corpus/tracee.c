#define _GNU_SOURCE
#include "tracee.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void append(struct bytes *to, const void *from, size_t size) {
    to->data = realloc(to->data, to->size + size + 4);
    if (!to->data)
        exit(5);
    memcpy(to->data + to->size, from, size);
    to->size += size;
}

FILE *open_of(pid_t id, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)id, name);
    return fopen(path, "r");
}

struct bytes read_of(pid_t id, const char *name) {
    struct bytes all = {NULL, 0};
    char piece[4096];
    FILE *file = open_of(id, name);
    for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;)
        append(&all, piece, got);
    if (file)
        fclose(file);
    append(&all, "", 1);
    all.size--;
    return all;
}

uint64_t status_of(pid_t id, const char *key, int base) {
    struct bytes status = read_of(id, "status");
    char *at = strstr(status.data, key);
    uint64_t value = at ? strtoull(at + strlen(key), NULL, base) : 0;
    free(status.data);
    return value;
}

pid_t process_of(pid_t thread) {
    return (pid_t)status_of(thread, "\nTgid:", 10);
}

int leaves_core(pid_t thread, int number) {
    static const int dumping[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};
    uint64_t handled = status_of(thread, "\nSigCgt:", 16) | status_of(thread, "\nSigIgn:", 16);
    for (size_t i = 0; i < sizeof dumping / sizeof *dumping; i++)
        if (dumping[i] == number)
            return !(handled >> (number - 1) & 1);
    return 0;
}

int stop_thread(pid_t process, pid_t thread) {
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 && syscall(SYS_tgkill, process, thread, SIGSTOP) != 0)
        return 0;
    for (int tries = 0; tries < 2000; tries++) { /* one that waits for its vfork stops for nobody */
        if (waitpid(thread, &status, __WALL | WNOHANG) != 0)
            return WIFSTOPPED(status) ? status : 0;
        usleep(1000);
    }
    return 0;
}

unsigned other_threads(pid_t thread, pid_t *others, unsigned room) {
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)thread);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < room;) {
        pid_t id = (pid_t)atoi(entry->d_name);
        if (id > 0 && id != thread)
            others[count++] = id;
    }
    if (folder)
        closedir(folder);
    return count;
}
