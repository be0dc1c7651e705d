#define _GNU_SOURCE
#include "writer.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mappings.h"
#include "notes.h"

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

int write_core(const char *name, const pid_t *threads, unsigned count, int number) {
    char folder[300];
    pid_t process = process_of(threads[0]);
    snprintf(folder, sizeof folder, "cwd/%s", name);
    int memory = open_file(process, "mem", O_RDONLY), pages = open_file(process, "pagemap", O_RDONLY);
    int file = open_file(process, folder, O_WRONLY | O_CREAT | O_TRUNC);
    struct mapping *mappings = calloc(MOST_MAPPINGS, sizeof *mappings);
    if (memory < 0 || pages < 0 || file < 0 || !mappings)
        return -1;
    int is_narrow = is_narrow_thread(threads[0]);
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
