"""The frames that code without unwind tables links by itself: rbp, the word there, and so on.

HotSpot's interpreter keeps a frame pointer in every frame, and its code lies in memory that is both
writable and executable: as long as the chain of saved rbp stays there, it is the truth. Read from
an x86-64 core that gdb's gcore wrote, by nothing but the layout of the file.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

_PT_LOAD, _PT_NOTE, _NT_PRSTATUS = 1, 4, 1
_EXECUTABLE_AND_WRITABLE = 3
_TID, _REGISTERS = 32, 112
_RBP, _RIP = 4, 16
"""Where a thread's id and registers stand in its note, and the numbers of two of them."""


def of_generated_code(core: Path) -> dict[int, list[int]]:
    """The chains, by thread id, of all threads that are in generated code: pcs, innermost first,
    the last one being elsewhere.
    """
    with core.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        memory = _Memory(data)
        return {
            tid: list(memory.chain(pc, frame))
            for tid, pc, frame in memory.threads()
            if memory.is_generated(pc)
        }


class _Memory:
    """Segments and notes of a core, by its program headers."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        (table,) = struct.unpack_from("<Q", data, 32)
        (count,) = struct.unpack_from("<H", data, 56)
        headers = [struct.unpack_from("<IIQQQQ", data, table + 56 * i) for i in range(count)]
        self._notes = [
            (offset, size) for kind, _, offset, _, _, size in headers if kind == _PT_NOTE
        ]
        self._segments = [
            (start, size, offset, flags)
            for kind, flags, offset, start, _, size in headers
            if kind == _PT_LOAD
        ]

    def threads(self) -> Iterator[tuple[int, int, int]]:
        """Id, pc and rbp of each thread."""
        for begin, size in self._notes:
            at = begin
            while at < begin + size:
                name, length, kind = struct.unpack_from("<III", self._data, at)
                body = at + 12 + (name + 3 & ~3)
                if kind == _NT_PRSTATUS and self._data[at + 12 : at + 16] == b"CORE":
                    (tid,) = struct.unpack_from("<I", self._data, body + _TID)
                    registers = struct.unpack_from("<27Q", self._data, body + _REGISTERS)
                    yield tid, registers[_RIP], registers[_RBP]
                at = body + (length + 3 & ~3)

    def is_generated(self, pc: int) -> bool:
        """Whether a pc lies in writable and executable memory."""
        found = self._segment(pc)
        return found is not None and found[3] & _EXECUTABLE_AND_WRITABLE == _EXECUTABLE_AND_WRITABLE

    def chain(self, pc: int, frame: int) -> Iterator[int]:
        """The pcs from `pc` on, while they lie in generated code, and the one after."""
        yield pc
        while self.is_generated(pc):
            frame, pc = self._word(frame), self._word(frame + 8)
            yield pc

    def _segment(self, address: int) -> tuple[int, int, int, int] | None:
        return next((each for each in self._segments if 0 <= address - each[0] < each[1]), None)

    def _word(self, address: int) -> int:
        found = self._segment(address)
        assert found, f"the chain leads to {address:#x}, which is not in the core"
        word: int = struct.unpack_from("<Q", self._data, found[2] + address - found[0])[0]
        return word
