#define _GNU_SOURCE
#include "writer.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define MOST_MAPPINGS 65000 /* as a header counts them */
#define SHADOW_STACK 0x204

enum filter { ANONYMOUS_PRIVATE = 1, ANONYMOUS_SHARED = 2, FILE_PRIVATE = 4, FILE_SHARED = 8, ELF_HEADERS = 16, HUGE_PRIVATE = 32, HUGE_SHARED = 64 };

struct mapping {
    uint64_t start, end, offset; /* in the file, in bytes */
    uint64_t dumped;             /* bytes */
    uint32_t flags;              /* of the program header */
    int has_file, is_special, has_anonymous;
    char *name;
};

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

struct bytes {
    char *data;
    size_t size;
};

static void append(struct bytes *to, const void *from, size_t size) {
    to->data = realloc(to->data, to->size + size + 4);
    if (!to->data)
        exit(5);
    memcpy(to->data + to->size, from, size);
    to->size += size;
}

static void append_note(struct bytes *to, const char *owner, uint32_t kind, const void *body, size_t size) {
    static const char zeros[4];
    uint32_t header[3] = {(uint32_t)strlen(owner) + 1, (uint32_t)size, kind};
    append(to, header, sizeof header);
    append(to, owner, header[0]);
    append(to, zeros, -header[0] & 3);
    append(to, body, size);
    append(to, zeros, -size & 3);
}

static FILE *open_of(pid_t id, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)id, name);
    return fopen(path, "r");
}

static struct bytes read_of(pid_t id, const char *name) {
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

static uint64_t status_of(pid_t id, const char *key, int base) {
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

static size_t read_mappings(pid_t process, int memory, struct mapping *mappings) {
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

static void put_header(struct bytes *to, const Elf64_Phdr *wide, int is_narrow) {
    Elf32_Phdr narrow = {.p_type = wide->p_type, .p_offset = (Elf32_Off)wide->p_offset, .p_vaddr = (Elf32_Addr)wide->p_vaddr,
                         .p_filesz = (Elf32_Word)wide->p_filesz, .p_memsz = (Elf32_Word)wide->p_memsz, .p_flags = wide->p_flags,
                         .p_align = (Elf32_Word)wide->p_align};
    append(to, is_narrow ? (const void *)&narrow : wide, is_narrow ? sizeof narrow : sizeof *wide);
}

/* All that stands before the memory, with room up to a page. */
static struct bytes heads(const struct mapping *mappings, size_t count, const struct bytes *notes, int is_narrow) {
    struct bytes made = {NULL, 0};
    size_t own = is_narrow ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr), each = is_narrow ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
    unsigned char ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', is_narrow ? ELFCLASS32 : ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    Elf64_Half segments = (Elf64_Half)(count + 1);
    Elf64_Ehdr wide = {.e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = own, .e_ehsize = (Elf64_Half)own,
                       .e_phentsize = (Elf64_Half)each, .e_phnum = segments};
    Elf32_Ehdr narrow = {.e_type = ET_CORE, .e_machine = EM_386, .e_version = EV_CURRENT, .e_phoff = (Elf32_Off)own, .e_ehsize = (Elf32_Half)own,
                         .e_phentsize = (Elf32_Half)each, .e_phnum = segments};
    memcpy(wide.e_ident, ident, sizeof ident);
    memcpy(narrow.e_ident, ident, sizeof ident);
    append(&made, is_narrow ? (const void *)&narrow : &wide, own);
    uint64_t at = own + each * segments;
    put_header(&made, &(Elf64_Phdr){.p_type = PT_NOTE, .p_offset = at, .p_filesz = notes->size, .p_align = 4}, is_narrow);
    at = (at + notes->size + PAGE - 1) & -PAGE;
    for (const struct mapping *m = mappings; m < mappings + count; at += m++->dumped)
        put_header(&made, &(Elf64_Phdr){.p_type = PT_LOAD, .p_flags = m->flags, .p_offset = at, .p_vaddr = m->start, .p_filesz = m->dumped,
                                        .p_memsz = m->end - m->start, .p_align = PAGE}, is_narrow);
    append(&made, notes->data, notes->size);
    static const char zeros[PAGE];
    append(&made, zeros, -made.size & (PAGE - 1));
    return made;
}

/* Pages that are not there stay holes, and are not asked for: asking would make them. */
static int copy_memory(int file, uint64_t at, int memory, int pages, const struct mapping *m) {
    static char page[PAGE];
    static const char zeros[PAGE];
    for (uint64_t done = 0; done < m->dumped; done += PAGE) {
        uint64_t about = 1ull << 63;
        if (!m->has_file && !m->is_special && pread(pages, &about, sizeof about, (off_t)((m->start + done) / PAGE * 8)) == sizeof about && !(about >> 62))
            continue;
        if (pread(memory, page, PAGE, (off_t)(m->start + done)) != PAGE || !memcmp(page, zeros, PAGE))
            continue;
        if (pwrite(file, page, PAGE, (off_t)(at + done)) != PAGE)
            return -1;
    }
    return 0;
}

static int open_file(pid_t process, const char *name, int flags) {
    char path[512];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    return open(path, flags | O_CLOEXEC, 0600);
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

static struct bytes notes_of(const pid_t *threads, unsigned count, int number, const struct mapping *mappings, size_t mapped, int is_narrow) {
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

int write_core(const char *name, const pid_t *threads, unsigned count, int number) {
    char folder[300], whole[sizeof(elf_gregset_t)];
    pid_t process = process_of(threads[0]);
    snprintf(folder, sizeof folder, "cwd/%s", name);
    int memory = open_file(process, "mem", O_RDONLY), pages = open_file(process, "pagemap", O_RDONLY);
    int file = open_file(process, folder, O_WRONLY | O_CREAT | O_TRUNC);
    struct mapping *mappings = calloc(MOST_MAPPINGS, sizeof *mappings);
    if (memory < 0 || pages < 0 || file < 0 || !mappings)
        return -1;
    int is_narrow = registers_of(threads[0], NT_PRSTATUS, whole, sizeof whole) < sizeof whole;
    size_t mapped = read_mappings(process, memory, mappings);
    struct bytes notes = notes_of(threads, count, number, mappings, mapped, is_narrow);
    struct bytes before = heads(mappings, mapped, &notes, is_narrow);
    uint64_t at = before.size;
    int result = pwrite(file, before.data, before.size, 0) == (ssize_t)before.size ? 0 : -1;
    for (const struct mapping *m = mappings; m < mappings + mapped && result == 0; at += m++->dumped)
        result = copy_memory(file, at, memory, pages, m);
    if (ftruncate(file, (off_t)at) != 0)
        result = -1;
    for (size_t i = 0; i < mapped; i++)
        free(mappings[i].name);
    free(mappings), free(notes.data), free(before.data);
    close(memory), close(pages), close(file);
    return result;
}
