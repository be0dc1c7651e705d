"""Bombs that are cores of the kernel's form."""

from __future__ import annotations

import struct
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import (
    CODE,
    ET_CORE,
    ET_DYN,
    PT_LOAD,
    PT_NOTE,
    Image,
    core,
    file_note,
    note,
    status,
)

GIB = 1 << 30


def every_command(path: Path) -> list[Command]:
    """What opens a core."""
    return [["bt", str(path)], ["modules", str(path)]]


@bomb("core", "notes")
def notes_again_and_again(folder: Path) -> list[Command]:
    """20,000 PT_NOTEs over the same notes."""
    image = core(status(1))
    notes = note(b"X", 9, b"") * 60_000
    at = image.put(notes)
    for _ in range(20_000):
        image.segment(PT_NOTE, at, len(notes))
    return every_command(image.write(folder / "core"))


@bomb("core", "notes")
def notes_a_little_further(folder: Path) -> list[Command]:
    """20,000 PT_NOTEs over parts of the same notes, each of which lists files."""
    image = core(status(1))
    notes = file_note([(0x10000, 0x20000, 0)] * 1000, b"/x\0" * 1000) * 100
    at = image.put(notes)
    for turn in range(20_000):
        image.segment(PT_NOTE, at, len(notes) - turn * 4)
    return every_command(image.write(folder / "core"))


@bomb("core", "files in memory")
def modules_of_holes(folder: Path) -> list[Command]:
    """30 modules of 1 GiB each, all of them holes, in 12 KB."""
    image = Image(ET_CORE)
    rows = [(at * 2 * GIB, at * 2 * GIB + GIB, 0) for at in range(1, 31)]
    paths = b"".join(b"/nowhere/lib%d.so\0" % at for at in range(30))
    notes = status(1) + file_note(rows, paths)
    image.segment(PT_NOTE, image.put(notes), len(notes))
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), ET_DYN, 62, 1, 0, 64,
                       0, 0, 64, 56, 1, 0, 0, 0)  # fmt: skip
    head += struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, GIB, GIB, 4096)
    for begin, _, _ in rows:
        at = image.hole(GIB)
        image.parts.append((at, head))
        image.segment(PT_LOAD, at, GIB, begin, 5)
    return every_command(image.write(folder / "core"))


def _named(threads: int, names: int) -> bytes:
    contents = b"".join(struct.pack("<Q", at + 1_000_000) + b"n\0" for at in range(names))
    return b"".join(map(status, range(1, threads + 1))) + note(b"WHOCALL", 0x574E414D, contents)


@bomb("core")
def threads_and_names(folder: Path) -> list[Command]:
    """200,000 threads and twice as many names of threads."""
    path = core(_named(200_000, 400_000)).write(folder / "core")
    return [["modules", str(path)], ["bt", str(path)]]


@bomb("core", "threads")
def threads_without_end(folder: Path) -> list[Command]:
    """400,000 threads."""
    return [["modules", str(core(_named(400_000, 0)).write(folder / "core"))]]


@bomb("core")
def files_without_end(folder: Path) -> list[Command]:
    """300,000 mapped files that are nowhere."""
    count = 300_000
    rows = [(0x10000 + at * 0x2000, 0x11000 + at * 0x2000, at % 2) for at in range(count)]
    paths = b"".join(b"/%d\0" % (at // 2) for at in range(count))
    return every_command(core(status(1), file_note(rows, paths)).write(folder / "core"))


@bomb("core")
def a_file_again_and_again(folder: Path) -> list[Command]:
    """65,000 mappings of the beginning of one file, none of them code."""
    count = 65_000
    rows = [(0x10000 + at * 0x2000, 0x11000 + at * 0x2000, 0) for at in range(count)]
    notes = file_note(rows, b"/nowhere\0" * count)
    return every_command(core(status(1), notes).write(folder / "core"))


@bomb("core")
def mappings_without_end(folder: Path) -> list[Command]:
    """200,000 segments, each of which begins as an ELF file does."""
    image = core(status(1))
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), ET_DYN, 62, 1, 0, 64,
                       0, 0, 64, 56, 1, 0, 0, 0)  # fmt: skip
    head += struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, 4096, 4096, 4096)
    at = image.put(head.ljust(4096, b"\0"), 4096)
    for turn in range(200_000):
        image.segment(PT_LOAD, at, 4096, 0x100000 + turn * 0x2000, 5)
    return every_command(image.write(folder / "core"))


@bomb("core")
def stack_of_code(folder: Path) -> list[Command]:
    """64 MB of stack whose every word points into code behind calls."""
    image = core(status(1, pc=0, sp=0x600000000000))
    code = b"\xe8\x00\x00\x00\x00" * 1000
    image.segment(PT_LOAD, image.put(code, 4096), len(code), CODE, 5)
    words = struct.pack("<Q", CODE + 500) * (64 << 17)
    image.segment(PT_LOAD, image.put(words, 4096), len(words), 0x600000000000, 6)
    return every_command(image.write(folder / "core"))


@bomb("core")
def stacks_without_start(folder: Path) -> list[Command]:
    """20,000 threads in code that is nowhere, each on an unused stack of 1 MiB."""
    count, size, step, first, code = 20_000, 1 << 20, 2 << 20, 0x10_0000_0000, 0x5000_0000
    image = Image(ET_CORE)
    own = first - step
    stacks = [first + at * step for at in range(count)]
    used = 64
    sps = [stack + size - used for stack in stacks]
    notes = b"".join(status(at + 1, code, sp, own=own) for at, sp in enumerate(sps))
    notes += file_note([(code, code + 0x1000, 0)], b"/nowhere/program\0")
    image.segment(PT_NOTE, image.put(notes), len(notes))
    image.segment(PT_LOAD, image.end, 0, code, 5, 0x1000)
    image.segment(PT_LOAD, image.put(bytes(4096), 4096), 4096, own, 6)
    words = image.put(bytes(size - used) + struct.pack("<8Q", 0, code + 0x101, *[0] * 6), 4096)
    for stack in stacks:
        image.segment(PT_LOAD, words, size, stack, 6)
    path = str(image.write(folder / "core"))
    return [["bt", "--all", path], ["bt", "--all", "--json", path]]
