#define _GNU_SOURCE
#include "notes.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define SHADOW_STACK 0x204

struct prstatus_32 {
    int32_t info[3];
    int16_t signal, unused;
    uint32_t pending, held;
    int32_t pid, parent, group, session, times[8];
    uint32_t registers[17];
    int32_t has_fp;
};

struct prpsinfo_32 {
    char state, letter, is_zombie, nice;
    uint32_t flags;
    uint16_t uid, gid;
    int32_t pid, parent, group, session;
    char name[16], arguments[80];
};

/* What is common to both sizes of words. */
struct about {
    int parent, group, session, nice;
    unsigned flags, uid, gid;
    uint64_t pending, held;
    char name[16], arguments[80];
};

static void append_note(struct bytes *to, const char *owner, uint32_t kind, const void *body, size_t size) {
    static const char zeros[4];
    uint32_t header[3] = {(uint32_t)strlen(owner) + 1, (uint32_t)size, kind};
    append(to, header, sizeof header);
    append(to, owner, header[0]);
    append(to, zeros, -header[0] & 3);
    append(to, body, size);
    append(to, zeros, -size & 3);
}

static struct about about_thread(pid_t id) {
    struct about found = {0};
    struct bytes stat = read_of(id, "stat"), name = read_of(id, "comm"), line = read_of(id, "cmdline");
    char *behind = strrchr(stat.data, ')');
    if (behind)
        sscanf(behind + 2, "%*c %d %d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %d", &found.parent, &found.group, &found.session,
               &found.flags, &found.nice);
    found.uid = (unsigned)status_of(id, "\nUid:", 10);
    found.gid = (unsigned)status_of(id, "\nGid:", 10);
    found.pending = status_of(id, "\nSigPnd:", 16);
    found.held = status_of(id, "\nSigBlk:", 16);
    snprintf(found.name, sizeof found.name, "%.*s", (int)strcspn(name.data, "\n"), name.data);
    size_t length = line.size < sizeof found.arguments ? line.size : sizeof found.arguments - 1;
    for (size_t i = 0; i < length; i++)
        found.arguments[i] = line.data[i] ? line.data[i] : ' ';
    free(stat.data), free(name.data), free(line.data);
    return found;
}

static size_t registers_of(pid_t id, unsigned kind, void *to, size_t room) {
    struct iovec place = {to, room};
    return ptrace(PTRACE_GETREGSET, id, (void *)(uintptr_t)kind, &place) == 0 ? place.iov_len : 0;
}

int is_narrow_thread(pid_t thread) {
    char whole[sizeof(elf_gregset_t)];
    return registers_of(thread, NT_PRSTATUS, whole, sizeof whole) < sizeof whole;
}

static void append_status(struct bytes *notes, pid_t id, int number, int is_narrow) {
    struct about about = about_thread(id);
    if (is_narrow) {
        struct prstatus_32 made = {{number, 0, 0}, (int16_t)number, 0, (uint32_t)about.pending, (uint32_t)about.held,
                                   id, about.parent, about.group, about.session, {0}, {0}, 1};
        registers_of(id, NT_PRSTATUS, made.registers, sizeof made.registers);
        append_note(notes, "CORE", NT_PRSTATUS, &made, sizeof made);
        return;
    }
    struct elf_prstatus made = {.pr_info = {number, 0, 0}, .pr_cursig = (short)number, .pr_sigpend = about.pending, .pr_sighold = about.held,
                                .pr_pid = id, .pr_ppid = about.parent, .pr_pgrp = about.group, .pr_sid = about.session, .pr_fpvalid = 1};
    registers_of(id, NT_PRSTATUS, &made.pr_reg, sizeof made.pr_reg);
    append_note(notes, "CORE", NT_PRSTATUS, &made, sizeof made);
}

static void append_other_registers(struct bytes *notes, pid_t id) {
    static const struct { unsigned kind; const char *owner; } kinds[] = {
        {NT_PRFPREG, "CORE"}, {NT_PRXFPREG, "LINUX"}, {NT_386_IOPERM, "LINUX"}, {NT_X86_XSTATE, "LINUX"}, {NT_386_TLS, "LINUX"}, {SHADOW_STACK, "LINUX"}};
    static char body[65536];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = registers_of(id, kinds[i].kind, body, sizeof body);
        if (size)
            append_note(notes, kinds[i].owner, kinds[i].kind, body, size);
    }
}

static void append_process(struct bytes *notes, pid_t process, int is_narrow) {
    struct about about = about_thread(process);
    if (is_narrow) {
        struct prpsinfo_32 made = {.letter = 'R', .nice = (char)about.nice, .flags = about.flags, .uid = (uint16_t)about.uid, .gid = (uint16_t)about.gid,
                                   .pid = process, .parent = about.parent, .group = about.group, .session = about.session};
        memcpy(made.name, about.name, sizeof made.name);
        memcpy(made.arguments, about.arguments, sizeof made.arguments);
        append_note(notes, "CORE", NT_PRPSINFO, &made, sizeof made);
        return;
    }
    struct elf_prpsinfo made = {.pr_sname = 'R', .pr_nice = (char)about.nice, .pr_flag = about.flags, .pr_uid = about.uid, .pr_gid = about.gid,
                                .pr_pid = process, .pr_ppid = about.parent, .pr_pgrp = about.group, .pr_sid = about.session};
    memcpy(made.pr_fname, about.name, sizeof about.name);
    memcpy(made.pr_psargs, about.arguments, sizeof about.arguments);
    append_note(notes, "CORE", NT_PRPSINFO, &made, sizeof made);
}

/* What follows signo, errno and code is aligned to words; of a fault it is an address, else two halves of eight bytes. */
static void append_siginfo(struct bytes *notes, pid_t thread, int is_narrow) {
    uint32_t info[32] = {0}, narrow[32] = {0};
    ptrace(PTRACE_GETSIGINFO, thread, NULL, info);
    memcpy(narrow, info, 12);
    narrow[3] = info[4];
    if ((int32_t)info[2] <= 0)
        narrow[4] = info[5], narrow[5] = info[6];
    append_note(notes, "CORE", NT_SIGINFO, is_narrow ? narrow : info, sizeof info);
}

static void append_word(struct bytes *to, uint64_t value, int is_narrow) {
    append(to, &value, is_narrow ? 4 : 8);
}

static void append_files(struct bytes *notes, const struct mapping *mappings, size_t count, int is_narrow) {
    struct bytes words = {NULL, 0}, names = {NULL, 0};
    uint64_t files = 0;
    for (size_t i = 0; i < count; i++)
        files += (uint64_t)mappings[i].has_file;
    append_word(&words, files, is_narrow);
    append_word(&words, PAGE, is_narrow);
    for (const struct mapping *m = mappings; m < mappings + count; m++) {
        if (!m->has_file)
            continue;
        append_word(&words, m->start, is_narrow);
        append_word(&words, m->end, is_narrow);
        append_word(&words, m->offset / PAGE, is_narrow);
        append(&names, m->name, strlen(m->name) + 1);
    }
    if (names.size)
        append(&words, names.data, names.size);
    append_note(notes, "CORE", NT_FILE, words.data, words.size);
    free(words.data), free(names.data);
}

/* Up to the entry that ends it. */
static size_t auxv_size(const struct bytes *auxv, int is_narrow) {
    size_t entry = is_narrow ? 8 : 16;
    static const char end[8];
    for (size_t at = 0; at + entry <= auxv->size; at += entry)
        if (!memcmp(auxv->data + at, end, entry / 2))
            return at + entry;
    return auxv->size;
}

struct bytes notes_of(const pid_t *threads, unsigned count, int number, const struct mapping *mappings, size_t mapped, int is_narrow) {
    struct bytes notes = {NULL, 0}, auxv = read_of(threads[0], "auxv");
    append_status(&notes, threads[0], number, is_narrow);
    append_process(&notes, process_of(threads[0]), is_narrow);
    append_siginfo(&notes, threads[0], is_narrow);
    append_note(&notes, "CORE", NT_AUXV, auxv.data, auxv_size(&auxv, is_narrow));
    append_files(&notes, mappings, mapped, is_narrow);
    append_other_registers(&notes, threads[0]);
    for (unsigned i = 1; i < count; i++) {
        append_status(&notes, threads[i], number, is_narrow);
        append_other_registers(&notes, threads[i]);
    }
    free(auxv.data);
    return notes;
}
