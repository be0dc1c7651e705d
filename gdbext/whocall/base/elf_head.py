"""What the headers and notes of an ELF file tell: its build id, its segments, what else is in it.

Reads a few kilobytes of a file, of which nothing is taken on trust; thousands of files may have to
be looked at to find one.
"""

from __future__ import annotations

import struct
from typing import IO

from whocall.base.records import dataclass
from whocall.base.regular_file import open_regular

_MOST_HEADERS = 4096  # of segments, and of sections
_MOST_NOTES = 1 << 16  # bytes
_MOST_NAMES = 1 << 20  # bytes
_PT_LOAD = 1
_PT_INTERP = 3
_PT_NOTE = 4
_SHT_NOTE = 7
_SHT_NOBITS = 8
_PF_X = 1
_SHF_ALLOC_EXEC = 6
_NT_GNU_BUILD_ID = 3
ET_EXEC, ET_DYN = 2, 3
PAGE = 4096  # bytes

_Section = tuple[bytes, int, int, int, int, int]  # name, kind, flags, address, offset, size


@dataclass(frozen=True)
class Segment:
    """A part of the file that is loaded."""

    offset: int  # in the file
    address: int  # link address
    file_size: int  # bytes
    size: int  # bytes in memory
    flags: int  # PF_X 1, PF_W 2, PF_R 4
    align: int = 0  # bytes: offset and address are the same modulo this

    @property
    def executable(self) -> bool:
        return bool(self.flags & _PF_X)


@dataclass(frozen=True)
class ElfHead:
    """Of one ELF file."""

    path: str
    kind: int  # ET_EXEC or ET_DYN
    machine: int
    entry: int  # link address
    table_offset: int  # of the program headers, in the file
    row_size: int  # of one of them, bytes
    rows: int  # how many there are
    build_id: str  # lower-case hex; "" without one
    segments: tuple[Segment, ...]
    has_debug_info: bool
    has_symbols: bool  # .symtab
    text: int | None  # link address of .text
    has_code: bool  # False for what `objcopy --only-keep-debug` leaves
    has_interpreter: bool  # as dynamic programs have, and few libraries: the C library's

    @property
    def first(self) -> int:
        """Link address of the first byte that is mapped."""
        return self.segments[0].address // PAGE * PAGE if self.segments else 0

    @property
    def begin(self) -> int | None:
        """Link address at which the file's first byte would be mapped; None where nothing is."""
        return self.first - self.segments[0].offset // PAGE * PAGE if self.segments else None


class _Reader:
    """Numbers of a file of one class and byte order. Raises ValueError where it ends too early."""

    def __init__(self, file: IO[bytes], ident: bytes) -> None:
        self.file = file
        self.wide = ident[4] == 2
        self.order = ">" if ident[5] == 2 else "<"

    def bytes(self, offset: int, size: int) -> bytes:
        """Exactly so many."""
        if offset > 1 << 62:
            raise ValueError
        self.file.seek(offset)
        data = self.file.read(size)
        if len(data) != size:
            raise ValueError
        return data

    def rows(self, offset: int, count: int, size: int, form: str) -> list[tuple[int, ...]]:
        """A table of records that begin with the numbers of `form`."""
        form = self.order + form
        if count == 0:
            return []
        if count > _MOST_HEADERS or size < struct.calcsize(form):
            raise ValueError
        data = self.bytes(offset, count * size)
        return [struct.unpack_from(form, data, at * size) for at in range(count)]


def _build_id(data: bytes, order: str) -> str:
    """Of a section or segment with notes."""
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from(order + "III", data, at)
        name = at + 12
        value = name + (name_size + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and data[name : name + name_size] == b"GNU\0":
            return data[value : value + size].hex() if value + size <= len(data) else ""
        at = value + (size + 3) // 4 * 4
    return ""


def _segments(reader: _Reader, header: tuple[int, ...]) -> list[tuple[int, Segment]]:
    rows = reader.rows(header[4], header[9], header[8], "IIQQQQQQ" if reader.wide else "IIIIIIII")
    found = []
    for row in rows:
        if reader.wide:
            kind, flags, offset, address, _, file_size, size, align = row
        else:
            kind, offset, address, _, file_size, size, flags, align = row
        found.append((kind, Segment(offset, address, file_size, size, flags & 7, align)))
    return found


def _named(names: bytes, row: tuple[int, ...]) -> _Section:
    name, kind, flags, address, offset, size = row[:6]
    return names[name : names.find(b"\0", name)], kind, flags, address, offset, size


def _sections(reader: _Reader, header: tuple[int, ...]) -> list[_Section]:
    """None of them where the table cannot be read."""
    try:
        rows = reader.rows(
            header[5], header[11], header[10], "IIQQQQIIQQ" if reader.wide else "IIIIIIIIII"
        )
        if header[12] >= len(rows):
            return []
        _, _, _, _, offset, size, *_ = rows[header[12]]
        names = reader.bytes(offset, min(size, _MOST_NAMES))
        return [_named(names, row) for row in rows]
    except (ValueError, OSError):
        return []


def _notes(segments: list[tuple[int, Segment]], sections: list[_Section]) -> list[tuple[int, int]]:
    """Where notes are: (offset, size). In debug files only sections tell it rightly."""
    found = [(offset, size) for _, kind, _, _, offset, size in sections if kind == _SHT_NOTE]
    return found or [(part.offset, part.file_size) for kind, part in segments if kind == _PT_NOTE]


def _first_build_id(reader: _Reader, notes: list[tuple[int, int]]) -> str:
    for offset, size in notes[:64]:
        try:
            found = _build_id(reader.bytes(offset, min(size, _MOST_NOTES)), reader.order)
        except (ValueError, OSError):
            continue
        if found:
            return found
    return ""


def build_id_of(path: str) -> str:
    """Lower-case hex; empty for what is no ELF program or library with a build id."""
    head = read_elf_head(path)
    return head.build_id if head is not None else ""


def address_size(path: str) -> int:
    """Bytes of an address in a file: 4 in ELF files of 32 bits; of what is no ELF file 8."""
    try:
        with open_regular(path) as file:
            head = file.read(5)
    except OSError:
        return 8
    return 4 if head == b"\x7fELF\x01" else 8


def read_elf_head(path: str) -> ElfHead | None:
    """None where there is no ELF program or library at `path`, or one that cannot be read."""
    try:
        with open_regular(path, buffer=1024) as file:
            ident = file.read(16)
            if len(ident) < 16 or ident[:4] != b"\x7fELF" or ident[4] not in (1, 2):
                return None
            reader = _Reader(file, ident)
            form = "HHIQQQIHHHHHH" if reader.wide else "HHIIIIIHHHHHH"
            header = struct.unpack(
                reader.order + form, reader.bytes(16, struct.calcsize(reader.order + form))
            )
            if header[0] not in (ET_EXEC, ET_DYN):
                return None
            segments = _segments(reader, header)
            sections = _sections(reader, header)
            build_id = _first_build_id(reader, _notes(segments, sections))
    except (OSError, ValueError, struct.error, OverflowError):
        return None
    names = {name for name, *_ in sections}
    return ElfHead(
        path=path,
        kind=header[0],
        machine=header[1],
        entry=header[3],
        table_offset=header[4],
        row_size=header[8],
        rows=header[9],
        build_id=build_id,
        segments=tuple(part for kind, part in segments if kind == _PT_LOAD),
        has_debug_info=b".debug_info" in names or b".zdebug_info" in names,
        has_symbols=b".symtab" in names,
        text=next((address for name, _, _, address, *_ in sections if name == b".text"), None),
        has_code=not any(
            kind == _SHT_NOBITS and flags & _SHF_ALLOC_EXEC == _SHF_ALLOC_EXEC
            for _, kind, flags, *_ in sections
        ),
        has_interpreter=any(kind == _PT_INTERP for kind, _ in segments),
    )
