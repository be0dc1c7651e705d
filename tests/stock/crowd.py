"""A core with the threads of another many times over: more than a machine would run."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

PT_NOTE, NT_PRSTATUS = 4, 1
TID_AT = 32
"""Of prstatus on x86-64."""
FIRST_TID = 1_000_000


def _notes(data: bytes) -> list[tuple[int, bytes]]:
    """(type, whole note) of each."""
    found = []
    at = 0
    while at + 12 <= len(data):
        name, size, kind = struct.unpack_from("<III", data, at)
        end = at + 12 + (name + 3 & ~3) + (size + 3 & ~3)
        found.append((kind, data[at:end]))
        at = end
    return found


def crowd(core: Path, times: int, to: Path) -> Path:
    """A copy of a core of x86-64 with `times` as many threads, those added with the general
    registers only.
    """
    shutil.copy(core, to)
    with to.open("r+b") as file:
        header = file.read(64)
        (table,) = struct.unpack_from("<Q", header, 32)
        (count,) = struct.unpack_from("<H", header, 56)
        for number in range(count):
            at = table + 56 * number
            file.seek(at)
            segment = file.read(56)
            kind, _, begin, _, _, size = struct.unpack_from("<IIQQQQ", segment)
            if kind == PT_NOTE:
                break
        file.seek(begin)
        notes = file.read(size)
        threads = [note for kind, note in _notes(notes) if kind == NT_PRSTATUS]
        added = bytearray(b"".join(threads) * (times - 1))
        length = len(threads[0])
        for number in range(len(added) // length):
            struct.pack_into("<I", added, number * length + 20 + TID_AT, FIRST_TID + number)
        end = file.seek(0, 2)
        file.write(notes + added)
        file.seek(at + 8)
        file.write(struct.pack("<Q", end))
        file.seek(at + 32)
        file.write(struct.pack("<Q", size + len(added)))
    return to
