"""Reads the headers of ELF files: as much as it takes to place one in a process."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from whocall.core.records import dataclass

PT_LOAD, PT_NOTE = 1, 4
_NT_BUILD_ID = 3
_MOST = 1 << 16  # bytes of notes
_PAGE = 4096


@dataclass(frozen=True)
class ProgramHeader:
    """Link addresses; sizes and offsets in bytes."""

    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int


@dataclass(frozen=True)
class Headers:
    """Of one file."""

    order: str  # of bytes: "<" or ">"
    kind: int  # ET_*
    entry: int  # link address
    table_offset: int  # of the program headers
    row_size: int
    rows: list[ProgramHeader]

    @property
    def loads(self) -> list[ProgramHeader]:
        return [row for row in self.rows if row.kind == PT_LOAD]

    @property
    def first_byte(self) -> int | None:
        """Link address at which the file's first byte would be mapped; None where nothing is."""
        if not self.loads:
            return None
        first = self.loads[0]
        return first.address // _PAGE * _PAGE - first.offset // _PAGE * _PAGE


def _read(file: BinaryIO) -> Headers | None:
    head = file.read(64)
    if len(head) < 64 or head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
        return None
    wide = head[4] == 2
    order = "<" if head[5] == 1 else ">"
    (file_kind,) = struct.unpack_from(order + "H", head, 16)
    entry, start = struct.unpack_from(order + ("2Q" if wide else "2I"), head, 24)
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    shape = struct.Struct(order + ("2I6Q" if wide else "8I"))
    if size != shape.size:
        return None
    file.seek(start)
    table = file.read(size * count)
    rows = []
    for at in range(0, len(table) - size + 1, size):
        row = shape.unpack_from(table, at)
        if wide:
            kind, flags, offset, address, _, held, whole, _ = row
        else:
            kind, offset, address, _, held, whole, flags, _ = row
        rows.append(ProgramHeader(kind, flags, offset, address, held, whole))
    return Headers(order, file_kind, entry, start, size, rows)


def _opened(path: str) -> BinaryIO | None:
    """None for what is no plain file: opening a pipe would wait for its writer."""
    return open(path, "rb") if os.path.isfile(path) else None


def headers_of(path: str) -> Headers | None:
    """None for what cannot be read or is no ELF file."""
    try:
        file = _opened(path)
        if file is None:
            return None
        with file:
            return _read(file)
    except (OSError, struct.error, ValueError, OverflowError):
        return None


def build_id_of(path: str) -> str:
    """Lower-case hex; empty for what is no ELF file with a build id."""
    try:
        file = _opened(path)
        if file is None:
            return ""
        with file:
            headers = _read(file)
            for row in headers.rows if headers else ():
                if row.kind == PT_NOTE:
                    file.seek(row.offset)
                    notes = file.read(min(row.file_size, _MOST))
                    found = _build_id_in(notes, headers.order if headers else "<")
                    if found:
                        return found
    except (OSError, struct.error, ValueError, OverflowError):
        pass
    return ""


def _build_id_in(notes: bytes, order: str) -> str:
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from(order + "III", notes, at)
        contents = at + 12 + (name + 3) // 4 * 4
        if kind == _NT_BUILD_ID and notes[at + 12 : at + 16] == b"GNU\0":
            return notes[contents : contents + size].hex()
        at = contents + (size + 3) // 4 * 4
    return ""
