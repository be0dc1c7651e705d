"""Whether an unwind table covers a pc of a core, read from the files' `.eh_frame_hdr` by nothing
but its layout, or by readelf where there is none. eu-unstrip says which file lies where.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from oracles.tools import lines, run

_PT_LOAD, _PT_GNU_EH_FRAME = 1, 0x6474E550
_PAGE = 4096
_FDE = re.compile(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)")


@dataclass
class _Table:
    """Begin and end of each FDE of a file, as link addresses, ascending."""

    bias_of: int = 0
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def covers(self, address: int) -> bool:
        at = bisect_right(self.begins, address) - 1
        return at >= 0 and address < self.ends[at]


@dataclass(frozen=True)
class _Module:
    begin: int
    end: int
    file: str


class Covered:
    """The modules of one core or process; the tables of files are kept for all cores of a run."""

    _tables: dict[str, _Table] = {}

    def __init__(self, source: list[str]) -> None:
        """`source`: the arguments by which elfutils' tools name a core or a process."""
        said = run(["eu-unstrip", "-n", *source], accepted=(0, 1))
        self._modules = sorted(
            (_module(line.split()) for line in said.splitlines() if "+" in line.split()[0]),
            key=lambda module: module.begin,
        )

    def has_table(self, pc: int) -> bool:
        """Whether an FDE covers the instruction at `pc`; the vdso counts as covered."""
        for module in self._modules:
            if module.begin <= pc < module.end:
                if not module.file.startswith("/"):
                    return "vdso" in module.file or "linux-gate" in module.file
                table = self._table(module.file)
                return table.covers(pc - module.begin + table.bias_of)
        return False

    def _table(self, file: str) -> _Table:
        if file not in self._tables:
            table = _read(Path(file).read_bytes())
            if not table.begins:
                _read_frames(file, table)
            self._tables[file] = table
        return self._tables[file]


def _read_frames(file: str, table: _Table) -> None:
    """The ranges of all FDEs as readelf prints them."""
    ranges = sorted(
        (int(found[1], 16), int(found[2], 16))
        for line in lines(["readelf", "--wide", "--debug-dump=frames", file])
        if (found := _FDE.search(line))
    )
    table.begins = [begin for begin, _ in ranges]
    table.ends = [end for _, end in ranges]


def _module(words: list[str]) -> _Module:
    """`START+SIZE BUILDID FILE DEBUGFILE NAME`; FILE is `.` where the core is all there is."""
    begin, _, size = words[0].partition("+")
    file = words[2] if len(words) > 2 and words[2] not in (".", "-") else words[-1]
    start = int(begin, 16)
    return _Module(start, start + int(size, 16), file)


def _read(data: bytes) -> _Table:
    """An ELF file's table; empty where it has no `.eh_frame_hdr` with a sorted table."""
    table = _Table()
    if data[:4] != b"\x7fELF":
        return table
    header, loads = None, []
    for kind, offset, address, size in _program_headers(data):
        if kind == _PT_LOAD:
            loads.append((offset, address, size))
        elif kind == _PT_GNU_EH_FRAME:
            header = (offset, address)
    table.bias_of = min((address // _PAGE * _PAGE for _, address, _ in loads), default=0)
    if header is None or data[header[0] : header[0] + 4] != b"\x01\x1b\x03\x3b":
        return table
    offset, address = header
    (count,) = struct.unpack_from("<I", data, offset + 8)
    for number in range(count):
        begin, fde = struct.unpack_from("<ii", data, offset + 12 + 8 * number)
        at = _offset(loads, address + fde)
        (length,) = struct.unpack_from("<I", data, at + 12)
        table.begins.append(address + begin)
        table.ends.append(address + begin + length)
    return table


def _program_headers(data: bytes) -> list[tuple[int, int, int, int]]:
    """Kind, file offset, link address and size in the file of each, for either word size."""
    if data[4] == 2:
        (table,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        rows = [struct.unpack_from("<IIQQQQ", data, table + size * i) for i in range(count)]
        return [(row[0], row[2], row[3], row[5]) for row in rows]
    (table,) = struct.unpack_from("<I", data, 28)
    size, count = struct.unpack_from("<HH", data, 42)
    rows = [struct.unpack_from("<IIIII", data, table + size * i) for i in range(count)]
    return [(row[0], row[1], row[2], row[4]) for row in rows]


def _offset(loads: list[tuple[int, int, int]], address: int) -> int:
    return next(o + address - a for o, a, size in loads if a <= address < a + size)
