"""What the judge reads of ELF files of any byte order: segments, notes, and the twin's symbols."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

PT_LOAD, PT_NOTE, SHT_SYMTAB = 1, 4, 2
EM_ARM = 40
EXECUTABLE, WRITABLE = 1, 2
STT_OBJECT, STT_FUNC = 1, 2
ADDRESS_SIZE = 6
"""Bytes of a word of 8 that are address: those of a process are no longer anywhere."""


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
        with path.open("rb") as file:  # hundreds of them, 8 MiB each: mapped, not read
            self.data = mmap(file.fileno(), 0, access=ACCESS_READ)
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
        sections = [
            self._unpack(
                f"II{big}{big}{big}{big}II{big}{big}", self._sections_at + i * self._section_size
            )
            for i in range(self._sections)
        ]
        layout = "IBBHQQ" if self.word == 8 else "IIIBBH"
        found = []
        for section in sections:
            if section[1] != SHT_SYMTAB:
                continue
            names = sections[section[6]][4]
            table = self.data[section[4] : section[4] + section[5]]
            for fields in struct.iter_unpack(self.order + layout, table):
                if self.word == 8:
                    name, info, _, where, value, size = fields
                else:
                    name, value, size, info, _, where = fields
                kind = info & 15
                if where == 0 or kind not in (STT_OBJECT, STT_FUNC):
                    continue
                end = self.data.find(b"\0", names + name)
                text = self.data[names + name : end].decode()
                odd = kind == STT_FUNC and self.machine == EM_ARM
                found.append(Symbol(value & ~1 if odd else value, size, text, kind == STT_FUNC))
        return sorted(found)

    @cached_property
    def _starts(self) -> list[int]:
        return [symbol.start for symbol in self.symbols]

    def function_at(self, address: int) -> str | None:
        """The function that a link address lies in."""
        symbol = self.function_around(address)
        return None if symbol is None else symbol.name

    def function_around(self, address: int) -> Symbol | None:
        """The symbol of that function."""
        at = bisect_right(self._starts, address)
        for symbol in reversed(self.symbols[max(0, at - 8) : at]):
            if symbol.is_function and symbol.start <= address < symbol.start + symbol.size:
                return symbol
        return None

    def address_of(self, name: str) -> int:
        """The link address of a symbol."""
        return next(symbol.start for symbol in self.symbols if symbol.name == name)


class Thread(NamedTuple):
    """A thread at the moment of the dump."""

    tid: int
    pc: int


class Core(Elf):
    """A core that qemu-user wrote."""

    def threads(self, pc_at: int) -> list[Thread]:
        """All threads, the one that crashed first."""
        tid_at = 32 if self.word == 8 else 24
        return [
            Thread(
                struct.unpack_from(self.order + "I", note, tid_at)[0],
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

    def places_of(self, address: int) -> Iterator[int]:
        """Where it stands as a word of writable memory.

        The bits above an address are not compared: there AArch64 keeps signatures.
        """
        size = min(ADDRESS_SIZE, self.word)
        big = self.order == ">"
        wanted = (address % (1 << 8 * size)).to_bytes(size, "big" if big else "little")
        skipped = self.word - size if big else 0
        for segment in self.segments:
            if segment.kind != PT_LOAD or not segment.flags & WRITABLE:
                continue
            start, end = segment.offset + skipped, segment.offset + segment.file_size
            memory = self.data[start:end]  # bytes are searched faster than what is mapped
            at = memory.find(wanted)
            while at >= 0:
                if at % self.word == 0:
                    yield segment.address + at
                at = memory.find(wanted, at + 1)
