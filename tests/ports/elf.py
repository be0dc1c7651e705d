"""What the judge reads of ELF files of any byte order: segments, notes, and the twin's symbols."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

PT_LOAD, PT_NOTE, SHT_SYMTAB = 1, 4, 2
EXECUTABLE = 1
STT_FUNC = 2


class Segment(NamedTuple):
    """A program header."""

    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int


class Symbol(NamedTuple):
    """A function or an object."""

    start: int
    size: int
    name: str
    is_function: bool


class Elf:
    """One file in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path.read_bytes()
        self.word = 8 if self.data[4] == 2 else 4
        self.order = "<" if self.data[5] == 1 else ">"
        self.letter = "Q" if self.word == 8 else "I"
        big = self.letter
        fields = self._unpack(f"HHI{big}{big}{big}IHHHHHH", 16)
        _, self.machine, _, self.entry, self._segments_at, self._sections_at = fields[:6]
        _, _, self._segment_size, self._segments, self._section_size, self._sections, _ = fields[6:]

    def _unpack(self, layout: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + layout, self.data, at)

    @cached_property
    def segments(self) -> list[Segment]:
        """All program headers."""
        found = []
        for i in range(self._segments):
            at = self._segments_at + i * self._segment_size
            if self.word == 8:
                kind, flags, offset, address, _, size, memory, _ = self._unpack("IIQQQQQQ", at)
            else:
                kind, offset, address, _, size, memory, flags, _ = self._unpack("IIIIIIII", at)
            found.append(Segment(kind, flags, offset, address, size, memory))
        return found

    def notes(self) -> Iterator[tuple[int, bytes]]:
        """Kind and contents of each note."""
        for segment in self.segments:
            at, end = segment.offset, segment.offset + segment.file_size
            while segment.kind == PT_NOTE and at + 12 <= end:
                name, size, kind = self._unpack("III", at)
                at += 12 + (name + 3) // 4 * 4
                yield kind, self.data[at : at + size]
                at += (size + 3) // 4 * 4

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Of .symtab, by address; the lowest bit of Thumb's functions is cleared."""
        big = self.letter
        layout = f"II{big}{big}{big}{big}II{big}{big}"
        sections = [
            self._unpack(layout, self._sections_at + i * self._section_size)
            for i in range(self._sections)
        ]
        found = []
        for section in sections:
            if section[1] != SHT_SYMTAB:
                continue
            names = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], section[9]):
                if self.word == 8:
                    name, info, _, where, value, size = self._unpack("IBBHQQ", at)
                else:
                    name, value, size, info, _, where = self._unpack("IIIBBH", at)
                if where == 0 or info & 15 not in (1, STT_FUNC):
                    continue
                is_function = info & 15 == STT_FUNC
                end = self.data.index(b"\0", names + name)
                text = self.data[names + name : end].decode()
                odd = is_function and self.machine == 40
                found.append(Symbol(value & ~1 if odd else value, size, text, is_function))
        return sorted(found)

    @cached_property
    def _starts(self) -> list[int]:
        return [symbol.start for symbol in self.symbols]

    def function_at(self, address: int) -> str | None:
        """The function that a link address lies in."""
        at = bisect_right(self._starts, address)
        for symbol in reversed(self.symbols[max(0, at - 8) : at]):
            if symbol.is_function and symbol.start <= address < symbol.start + symbol.size:
                return symbol.name
        return None

    def address_of(self, name: str) -> int:
        """The link address of a symbol."""
        return next(symbol.start for symbol in self.symbols if symbol.name == name)


class Thread(NamedTuple):
    """A thread at the moment of the dump."""

    tid: int
    signal: int
    pc: int


class Core(Elf):
    """A core that qemu-user wrote."""

    def threads(self, pc_at: int) -> list[Thread]:
        """All threads, the one that crashed first."""
        tid_at = 32 if self.word == 8 else 24
        return [
            Thread(
                struct.unpack_from(self.order + "I", note, tid_at)[0],
                struct.unpack_from(self.order + "H", note, 12)[0],
                struct.unpack_from(self.order + self.letter, note, pc_at)[0],
            )
            for kind, note in self.notes()
            if kind == 1
        ]

    @cached_property
    def auxiliary(self) -> dict[int, int]:
        """The auxiliary vector."""
        note = next(note for kind, note in self.notes() if kind == 6)
        words = struct.unpack(f"{self.order}{len(note) // self.word}{self.letter}", note)
        return dict(zip(words[::2], words[1::2], strict=True))

    def segment_at(self, address: int) -> Segment | None:
        """The mapping of an address."""
        for segment in self.segments:
            start = segment.address
            if segment.kind == PT_LOAD and start <= address < start + segment.memory_size:
                return segment
        return None

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Consecutive words of dumped memory."""
        segment = self.segment_at(address)
        if segment is None or address + count * self.word > segment.address + segment.file_size:
            raise LookupError(f"{self.path}: no memory at {address:#x}")
        return self._unpack(f"{count}{self.letter}", segment.offset + address - segment.address)

    def holds_word(self, word: int) -> bool:
        """Whether it stands anywhere in data that was dumped, but for the shadow stack itself."""
        return struct.pack(self.order + self.letter, word) in self.data
