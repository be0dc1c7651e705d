"""The kinds of damage, as functions from chance and a layout to changes of bytes."""

from __future__ import annotations

import mmap
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mutations.layout import Elf, Layout, Part

WORDS = (0, 1, 2, 7, 8, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63,
         2**64 - 1, 2**64 - 8)  # fmt: skip
PAGE = 4096

CORE, PROGRAM = "core", "program"


@dataclass(frozen=True)
class Change:
    """Bytes written over those of a file; without bytes it ends there."""

    file: str
    at: int
    data: bytes | None


Changes = Iterator[Change]
Kind = Callable[[random.Random, Layout], Changes]

KINDS: dict[str, Kind] = {}


def _kind(function: Kind) -> Kind:
    KINDS[function.__name__.replace("_", "-")] = function
    return function


def few(chance: random.Random, most: int) -> int:
    """A number that is more often small than large."""
    return 1 + int(most ** chance.random()) - 1 or 1


def flipped(
    chance: random.Random, file: str, data: mmap.mmap, part: Part, most: int = 64
) -> Changes:
    """Some bytes of a part: other bits, other bytes, odd words."""
    for _ in range(few(chance, most) if len(part) else 0):
        at = chance.randrange(part.begin, part.end)
        if chance.random() < 0.4:
            yield Change(file, at, bytes([data[at] ^ 1 << chance.randrange(8)]))
        elif chance.random() < 0.5:
            yield Change(file, at, bytes([chance.randrange(256)]))
        else:
            size = chance.choice((2, 4, 8))
            word = chance.choice(WORDS) & ((1 << 8 * size) - 1)
            at -= (at - part.begin) % chance.choice((1, size))
            yield Change(file, at, word.to_bytes(size, "little")[: part.end - at])


def pages(chance: random.Random, file: str, data: mmap.mmap) -> Changes:
    """Pages of a file swapped, doubled, emptied or filled with anything."""
    count = max(1, len(data) // PAGE)
    for _ in range(few(chance, 16)):
        one, other = (chance.randrange(count) * PAGE for _ in range(2))
        first, second = data[one : one + PAGE], data[other : other + PAGE]
        how = chance.randrange(4)
        if how == 0 and len(first) == len(second):
            yield Change(file, other, first)
        if how <= 1:
            yield Change(file, one, second[: len(first)])
        elif how == 2:
            yield Change(file, one, bytes(len(first)))
        else:
            yield Change(file, one, chance.randbytes(len(first)))


def cut(chance: random.Random, file: str, data: mmap.mmap) -> Changes:
    """The file ends early: anywhere, among its headers, or just before its end."""
    how = chance.randrange(4)
    most = (4096, len(data), len(data), 4096)[how]
    at = chance.randrange(min(most, len(data)))
    yield Change(file, len(data) - at if how == 3 else at, None)


def sizes(chance: random.Random, file: str, elf: Elf, table: Part, entry: int) -> Changes:
    """Fields of a table of headers, each as a whole: offsets, addresses, sizes, counts."""
    word = elf.word
    for _ in range(few(chance, 8) if len(table) else 0):
        row = chance.randrange(table.begin, table.end, entry)
        at = row + chance.randrange(0, entry, word)
        old = int.from_bytes(elf.data[at : at + word], "little")
        new = chance.choice(
            (chance.choice(WORDS), old + chance.choice((-1, 1, 8, PAGE, -PAGE)), old << 1, old >> 1,
             old * 1000, chance.randrange(2 * len(elf.data)), len(elf.data) - 1)
        )  # fmt: skip
        yield Change(file, at, (new & ((1 << 8 * word) - 1)).to_bytes(word, "little"))


@_kind
def core_bytes(chance: random.Random, layout: Layout) -> Changes:
    """Anywhere."""
    data = layout.core.data
    return flipped(chance, CORE, data, Part(0, len(data)), 4096)


@_kind
def core_headers(chance: random.Random, layout: Layout) -> Changes:
    """The ELF header and the program headers."""
    table = layout.core.program_headers
    return flipped(chance, CORE, layout.core.data, Part(0, table.end), 16)


@_kind
def core_sizes(chance: random.Random, layout: Layout) -> Changes:
    """What the program headers of the core say."""
    entry = 56 if layout.word == 8 else 32
    return sizes(chance, CORE, layout.core, layout.core.program_headers, entry)


@_kind
def core_notes(chance: random.Random, layout: Layout) -> Changes:
    """Threads, mappings, auxiliary vector."""
    return flipped(chance, CORE, layout.core.data, layout.notes)


@_kind
def note_sizes(chance: random.Random, layout: Layout) -> Changes:
    """The heads of the notes, and counts and pages of NT_FILE."""
    data, at, heads = layout.core.data, layout.notes.begin, []
    while at + 12 <= layout.notes.end:
        name, size = (int.from_bytes(data[at + 4 * i : at + 4 * i + 4], "little") for i in (0, 1))
        heads += [(at, 4), (at + 4, 4), (at + 8, 4)]
        begin = at + 12 + (name + 3) // 4 * 4
        if data[at + 8 : at + 12] == b"ELIF":
            heads += [(begin + layout.word * i, layout.word) for i in range(8)] * 3
        at = begin + (size + 3) // 4 * 4
    for _ in range(few(chance, 4)):
        at, size = chance.choice(heads)
        old = int.from_bytes(data[at : at + size], "little")
        new = chance.choice((chance.choice(WORDS), old + 1, old - 1, old * 2, old * 1000, old ^ 4))
        yield Change(CORE, at, (new & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


@_kind
def core_cut(chance: random.Random, layout: Layout) -> Changes:
    """Truncated, as by a full disk."""
    return cut(chance, CORE, layout.core.data)


@_kind
def core_pages(chance: random.Random, layout: Layout) -> Changes:
    """Pages that are others'."""
    return pages(chance, CORE, layout.core.data)


@_kind
def core_code(chance: random.Random, layout: Layout) -> Changes:
    """Code that the core itself holds."""
    return flipped(chance, CORE, layout.core.data, chance.choice(layout.code_in_core), 512)


def _program(layout: Layout) -> Elf:
    assert layout.program is not None
    return layout.program


@_kind
def program_bytes(chance: random.Random, layout: Layout) -> Changes:
    """Anywhere."""
    data = _program(layout).data
    return flipped(chance, PROGRAM, data, Part(0, len(data)), 4096)


@_kind
def program_headers(chance: random.Random, layout: Layout) -> Changes:
    """The ELF header and the program headers."""
    program = _program(layout)
    part = Part(0, max(64, program.program_headers.end))
    return flipped(chance, PROGRAM, program.data, part, 16)


@_kind
def program_sizes(chance: random.Random, layout: Layout) -> Changes:
    """What program headers and section headers say."""
    program = _program(layout)
    if chance.random() < 0.4:
        return sizes(
            chance, PROGRAM, program, program.program_headers, 56 if program.word == 8 else 32
        )
    return sizes(chance, PROGRAM, program, program.section_headers, 64 if program.word == 8 else 40)


@_kind
def program_cut(chance: random.Random, layout: Layout) -> Changes:
    """Truncated, as by a download that broke off."""
    return cut(chance, PROGRAM, _program(layout).data)


@_kind
def program_pages(chance: random.Random, layout: Layout) -> Changes:
    """Pages that are others'."""
    return pages(chance, PROGRAM, _program(layout).data)


def _in_section(name: str, most: int) -> Kind:
    def flip(chance: random.Random, layout: Layout) -> Changes:
        program = _program(layout)
        return flipped(chance, PROGRAM, program.data, program.sections[name], most)

    return flip


AIMED = {
    ".eh_frame": 128,
    ".eh_frame_hdr": 32,
    ".text": 2048,
    ".gopclntab": 128,
    ".dynsym": 64,
    ".dynamic": 16,
    ".gcc_except_table": 64,
    ".plt": 32,
    ".symtab": 64,
    ".rodata": 128,
}
"""Sections that are read on the way to a backtrace, and how many bytes of them to change."""

KINDS.update({f"section{name}": _in_section(name, most) for name, most in AIMED.items()})


@_kind
def unwind_records(chance: random.Random, layout: Layout) -> Changes:
    """CIEs and FDEs: lengths, owners, addresses, the first instructions."""
    program = _program(layout)
    part = program.sections[".eh_frame"]
    at, records = part.begin, []
    while at + 4 <= part.end:
        size = int.from_bytes(program.data[at : at + 4], "little")
        if not 0 < size < part.end - at:
            break
        records.append((at, size))
        at += 4 + size
    for _ in range(few(chance, 64)):
        at, size = chance.choice(records)
        where = at + chance.choice((0, 4, 8, 12, 16, 17, 18, chance.randrange(4 + size)))
        data = chance.choice(
            (chance.randbytes(4), chance.choice(WORDS).to_bytes(8, "little")[:4],
             program.data[where + 1 : where + 5], bytes([chance.randrange(256)]))
        )  # fmt: skip
        yield Change(PROGRAM, where, data[: part.end - where])


INSTRUCTIONS = [
    bytes.fromhex(each)
    for each in [
        "90",
        "cc",
        "c3",
        "c9",
        "55",
        "5d",
        "50",
        "58",
        "53",
        "41 54",
        "f4",
        "eb fe",
        "eb 00",
        "74 80",
        "75 7f",
        "e8 00000000",
        "e9 00000000",
        "ff d0",
        "ff e0",
        "ff 25 00000000",
        "48 89 e5",
        "89 e5",
        "48 83 ec 08",
        "48 81 ec 00 00 00 40",
        "48 29 c4",
        "48 83 e4 f0",
        "48 8d 64 24 f8",
        "8d 64 24 fc",
        "48 89 ec",
        "c8 10 00 01",
        "c2 08 00",
        "0f 0b",
        "0f 05",
        "f3 0f 1e fa",
        "ff 34 24",
        "8f 04 24",
        "48 87 e5",
        "ff 24 c5 00 00 40 00",
        "48 8b 64 24 08",
        "66 2e 0f 1f 84 00 00 00 00 00",
    ]
]


@_kind
def program_code(chance: random.Random, layout: Layout) -> Changes:
    """Other instructions: alone, in runs, and copies of other code."""
    program = _program(layout)
    text = program.sections[".text"]
    for _ in range(few(chance, 512)):
        at = chance.randrange(text.begin, text.end)
        how = chance.randrange(3)
        if how == 0:
            data = chance.choice(INSTRUCTIONS)
        elif how == 1:
            some = [chance.choice(INSTRUCTIONS) for _ in range(few(chance, 4))]
            data = b"".join(some) * few(chance, 512)
        else:
            other = chance.randrange(text.begin, text.end)
            data = program.data[other : other + few(chance, 512)]
        yield Change(PROGRAM, at, data[: text.end - at])
