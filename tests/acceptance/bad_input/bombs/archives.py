"""Bombs that are libraries within an archive, which a core says to have mapped out of it."""

from __future__ import annotations

import lzma
import struct
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import (
    ET_DYN,
    PT_DYNAMIC,
    PT_LOAD,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHT_PROGBITS,
    core,
    file_note,
    status,
)

PAGE = 4096
FIRST = 0x7000_0000_0000
BUILD = b"PK\3\4" + bytes(PAGE - 4)  # what the archive begins with: it is no ELF file itself
_NAMES = b"\0.text\0.gnu_debugdata\0.shstrtab\0"


def _head(sections: int, table: int, segments: int = 1, rows: int = 64) -> bytes:
    return struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), ET_DYN, 62, 1, 0, rows, table, 0,
        64, 56, segments, 64, sections, 0xFFFF if sections == 0 and table else max(sections - 1, 0),
    )  # fmt: skip


def _load(size: int = PAGE, flags: int = 5, address: int = 0, offset: int = 0) -> bytes:
    return struct.pack("<IIQQQQQQ", PT_LOAD, flags, offset, address, address, size, size, PAGE)


def _core(folder: Path, path: Path, rows: list[tuple[int, int, int]]) -> list[Command]:
    """That has mapped the file as code, which it left out."""
    image = core(status(1, FIRST + 16), file_note(rows, (bytes(path) + b"\0") * len(rows)))
    for begin, end, _ in rows:
        image.segment(PT_LOAD, 0, 0, begin, 5, end - begin)
    made = image.write(folder / "core")
    return [["modules", str(made)], ["bt", str(made)]]


def _mapping(folder: Path, archive: bytes, pages: list[int], length: int = 1) -> list[Command]:
    """A core that has mapped the pages of the archive, far from one another."""
    path = folder / "base.apk"
    path.write_bytes(archive)
    rows = [
        (FIRST + at * (1 << 20), FIRST + at * (1 << 20) + length * PAGE, page)
        for at, page in enumerate(pages)
    ]
    return _core(folder, path, rows)


@bomb("archive", "files in memory")
def tables_of_one_place(folder: Path) -> list[Command]:
    """8,000 libraries that share a table of 200,000 sections."""
    count = 8000
    table = b"".join(
        struct.pack("<IIQQQQIIQQ", 0, SHT_PROGBITS, 0, 0, 0, 200_000 if at == 0 else 0, 0, 0, 1, 0)
        for at in range(200_000)
    )
    heads = b"".join(
        (_head(0, (count - at) * PAGE) + _load()).ljust(PAGE, b"\0") for at in range(count)
    )
    return _mapping(folder, BUILD + heads + table, list(range(1, count + 1)))


@bomb("archive")
def names_far_away(folder: Path) -> list[Command]:
    """8,000 libraries before each of which no entry of an archive begins."""
    count = 8000
    library = (_head(0, 0) + _load()).ljust(PAGE, b"\0")
    return _mapping(folder, BUILD + library * count, list(range(1, count + 1)))


def _packed_image(size: int) -> bytes:
    """A library that goes on by zeros, by xz."""
    packer = lzma.LZMACompressor(format=lzma.FORMAT_XZ, preset=0)
    head = (_head(0, 0) + _load()).ljust(PAGE, b"\0")
    piece = bytes(16 << 20)
    return b"".join(
        [
            packer.compress(head),
            *(packer.compress(piece) for _ in range(size >> 24)),
            packer.flush(),
        ]
    )


@bomb("archive", "compressed parts")
def symbols_packed_once_for_all(folder: Path) -> list[Command]:
    """500 libraries that share a .gnu_debugdata, which becomes 128 MB."""
    count = 500
    packed = _packed_image(128 << 20)
    behind = (count + 1) * PAGE
    heads = []
    for at in range(count):
        begin = behind - (at + 1) * PAGE  # as seen from the library's own beginning
        names_at, table_at = 128, 256
        sections = [
            bytes(64),
            struct.pack("<IIQQQQIIQQ", 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, PAGE, 0, 0,
                        16, 0),
            struct.pack("<IIQQQQIIQQ", 7, SHT_PROGBITS, 0, 0, begin, len(packed), 0, 0, 1, 0),
            struct.pack("<IIQQQQIIQQ", 22, 3, 0, 0, names_at, len(_NAMES), 0, 0, 1, 0),
        ]  # fmt: skip
        head = (_head(4, table_at) + _load()).ljust(names_at, b"\0") + _NAMES
        heads.append((head.ljust(table_at, b"\0") + b"".join(sections)).ljust(PAGE, b"\0"))
    return _mapping(folder, BUILD + b"".join(heads) + packed, list(range(1, count + 1)))


@bomb("archive", "files in memory")
def libraries_over_one_another(folder: Path) -> list[Command]:
    """1,000 libraries of 512 MiB each, all of it a hole of the archive."""
    size = 512 << 20
    heads = b"".join((_head(0, 0) + _load(size)).ljust(PAGE, b"\0") for _ in range(1000))
    commands = _mapping(folder, BUILD + heads, list(range(1, 1001)))
    with (folder / "base.apk").open("r+b") as archive:
        archive.truncate(2 * size)
    return commands


@bomb("archive")
def names_of_megabytes(folder: Path) -> list[Command]:
    """2,000 libraries that call themselves the same 16 MB, and one that ends nowhere."""
    count, size = 2000, 16 << 20
    name = b"n" * size + b"\0"
    heads = []
    for at in range(count):
        behind = (count - at) * PAGE
        tags = struct.pack("<8Q", 5, behind, 10, size + 1, 14, 0, 0, 0)
        rows = _load(512) + _load(len(name), 4, behind, behind)
        rows += struct.pack("<IIQQQQQQ", PT_DYNAMIC, 4, 256, 256, 256, len(tags), len(tags), 8)
        head = _head(0, 0, 3) + rows
        heads.append((head.ljust(256, b"\0") + tags).ljust(PAGE, b"\0"))
    return _mapping(folder, BUILD + b"".join(heads) + name, list(range(1, count + 1)))


@bomb("archive")
def one_library_of_many_pieces(folder: Path) -> list[Command]:
    """A library of 60,000 segments, whose place 1,000 mappings tell."""
    rows = b"".join(_load(1 << 30, 5, at << 12, 0) for at in range(60_000))
    library = _head(0, 0, 60_000) + rows
    path = folder / "lib.so"
    path.write_bytes(library)
    with path.open("r+b") as file:
        file.truncate(1 << 30)
    mappings = [(FIRST + at * PAGE, FIRST + (at + 1) * PAGE, 2 * at + 1) for at in range(1000)]
    return _core(folder, path, mappings)
