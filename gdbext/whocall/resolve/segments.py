"""Link addresses of places that are told by where they are in a file, or in a mapping of it."""

from __future__ import annotations

from whocall.base.elf_head import PAGE, ElfHead, Segment

_WRITABLE = 2


def file_offset(head: ElfHead, offset: int, back: int) -> int | None:
    """The link address of code at a place in the program's file. Of what a call returns to `back`
    is 1: a call that does not return may be the last instruction of all.
    """
    offset -= back
    for part in head.segments if head.has_code else _where_code_was(head):
        begin = part.offset // PAGE * PAGE
        if part.executable and begin <= offset < part.offset + max(part.file_size, part.size):
            return offset - part.offset + part.address + back
    return None


def _where_code_was(head: ElfHead) -> list[Segment]:
    """The segments of a debug file as they were in the program's file.

    `objcopy --only-keep-debug` leaves their addresses, sizes and alignments, and moves all to the
    file's beginning. Linkers write one behind the other, as near as the rule lets them that a place
    in the file and its address are the same modulo the alignment: where the first ends at 0x5e0,
    code at 0x1000 was at 0x1000 in the file; code at 0x1610 (lld, mold) at 0x610. Behind data, of
    which a debug file does not tell how much was in the file, nothing is known. eu-strip moves
    none.
    """
    if not any(part.executable and part.file_size == 0 for part in head.segments):
        return list(head.segments)
    placed: list[Segment] = []
    end = 0
    for part in head.segments:
        at = end + (part.address - end) % max(part.align, 1) if placed else part.offset
        placed.append(Segment(at, part.address, part.size, part.size, part.flags, part.align))
        if part.flags & _WRITABLE:
            break
        end = at + part.size
    return placed


def code_offset(head: ElfHead, offset: int, extent: int) -> int | None:
    """Of what counts from a mapping of which only the size is known: a segment with code."""
    parts = [part for part in head.segments if part.executable]
    fits = [part for part in parts if _pages(part.address, part.size) == extent]
    chosen = fits if len(fits) == 1 else parts
    return chosen[0].address // PAGE * PAGE + offset if len(chosen) == 1 else None


def in_listed(head: ElfHead, address: int, begin: int, end: int) -> int | None:
    """The link address of a runtime address in a library that gdb lists as lying there.

    Folklore. Situation: what `info sharedlibrary` calls From and To. Example: up to gdb 16 these
    are the ends of .text, in gdb 18 those of the pages of all segments. Remedy: where as many bytes
    are listed as the segments have, these are meant; else .text, if it can begin there. Test:
    tests/acceptance/logs/test_real_logs.py, with every gdb that there is.
    """
    offset = address - begin
    if head.segments and begin % PAGE == 0 and end % PAGE == 0:
        last = max(part.address + part.size for part in head.segments)
        room = max(PAGE, *(part.align for part in head.segments))
        if 0 <= end - begin - (last - head.first) < room:
            return offset + head.first
    if head.text is None or (begin - head.text) % PAGE != 0:
        return None
    return offset + head.text


def _pages(address: int, size: int) -> int:
    """Bytes of the pages that hold a range."""
    return (address + size + PAGE - 1) // PAGE * PAGE - address // PAGE * PAGE


def has_code_at(head: ElfHead | None, rva: int) -> bool:
    """Whether the file has code at a link address."""
    parts = [part for part in head.segments if part.executable] if head is not None else []
    return any(part.address <= rva < part.address + part.size for part in parts)
