"""What lies where in a core and in a program, as far as damage is aimed at it."""

from __future__ import annotations

import mmap
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import whocall
from mutations.originals import Original
from whocall.base.process_image import ProcessImage, Walk

PT_LOAD, PT_NOTE = 1, 4
EXECUTABLE = 1
RETURN_ADDRESSES = 4000
"""How many addresses behind calls are drawn for a process."""
GUARD = 1 << 16
LARGEST_STACK = 1 << 20
"""Bytes of a thread's stack that are damaged."""


@dataclass(frozen=True)
class Part:
    """A range of bytes of a file, and the runtime or link address of the first."""

    begin: int
    end: int
    address: int = 0

    def __len__(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True)
class Elf:
    """The tables of an ELF file, which is a good one."""

    data: mmap.mmap

    @cached_property
    def word(self) -> int:
        """Bytes of an address."""
        return 8 if self.data[4] == 2 else 4

    def _header(self, at: int, fields: str) -> tuple[int, ...]:
        return struct.unpack_from("<" + fields, self.data, at)

    @cached_property
    def program_headers(self) -> Part:
        """The table of program headers."""
        (at,) = self._header(28 if self.word == 4 else 32, "I" if self.word == 4 else "Q")
        size, count = self._header(42 if self.word == 4 else 54, "HH")
        return Part(at, at + size * count)

    @cached_property
    def section_headers(self) -> Part:
        """The table of section headers; empty where there is none."""
        (at,) = self._header(32 if self.word == 4 else 40, "I" if self.word == 4 else "Q")
        size, count = self._header(46 if self.word == 4 else 58, "HH")
        return Part(at, at + size * count)

    def segments(self) -> Iterator[tuple[int, int, Part]]:
        """(type, flags, bytes in the file) of each program header."""
        table = self.program_headers
        for at in range(table.begin, table.end, 32 if self.word == 4 else 56):
            if self.word == 4:
                kind, offset, address, _, size, _, flags, _ = self._header(at, "8I")
            else:
                kind, flags, offset, address, _, size, _, _ = self._header(at, "2I6Q")
            end = min(offset + size, len(self.data))
            yield kind, flags, Part(min(offset, end), end, address)

    @cached_property
    def sections(self) -> dict[str, Part]:
        """The sections that have bytes in the file."""
        table = self.section_headers
        size = 40 if self.word == 4 else 64
        fields = "2I4I" if self.word == 4 else "2I4Q"
        rows = [self._header(at, fields) for at in range(table.begin, table.end, size)]
        (names,) = self._header(50 if self.word == 4 else 62, "H")
        found = {}
        for name, kind, _, address, offset, length in rows:
            if kind != 8 and length:  # SHT_NOBITS
                at = rows[names][4] + name
                text = self.data[at : self.data.find(b"\0", at)].decode()
                found[text] = Part(offset, offset + length, address)
        return found


@dataclass(frozen=True)
class Stack:
    """A thread's stack from its stack pointer up, as part of the core; and its frame pointer."""

    part: Part
    fp: int


@dataclass
class Layout:
    """One original with all that damage wants to know of it."""

    original: Original
    core: Elf
    program: Elf | None
    stacks: list[Stack] = field(default_factory=list)
    registers: list[tuple[int, int]] = field(default_factory=list)
    """Where in the core pc, sp and fp of a thread are kept: (offset, value)."""
    returns: list[int] = field(default_factory=list)
    """Addresses behind calls, drawn from all code; first those of the true frames."""
    true_returns: int = 0

    @cached_property
    def word(self) -> int:
        """Bytes of an address."""
        return self.core.word

    @cached_property
    def notes(self) -> Part:
        """The notes of the core."""
        return next(part for kind, _, part in self.core.segments() if kind == PT_NOTE)

    @cached_property
    def code_in_core(self) -> list[Part]:
        """Segments with code in the core: made at run time, or dumped with the files."""
        return [
            part
            for kind, flags, part in self.core.segments()
            if kind == PT_LOAD and flags & EXECUTABLE and len(part)
        ]

    def pack(self, value: int) -> bytes:
        """A word of the process."""
        return (value & ((1 << 8 * self.word) - 1)).to_bytes(self.word, "little")


def _return_addresses(image: ProcessImage, chance: random.Random) -> list[int]:
    """Behind direct calls whose target lies in the same mapping."""
    code = [
        (it.begin, image.read(it.begin, it.end - it.begin))
        for it in image.native.mappings
        if "x" in it.permissions
    ]
    code = [(begin, data) for begin, data in code if len(data) > 16]
    found: list[int] = []
    for _ in range(RETURN_ADDRESSES * 4):
        begin, data = chance.choice(code)
        at = data.find(b"\xe8", chance.randrange(len(data)))
        after = at + 5
        if at < 0 or after > len(data):
            continue
        target = after + int.from_bytes(data[at + 1 : after], "little", signed=True)
        if 0 <= target < len(data):
            found.append(begin + after)
        if len(found) == RETURN_ADDRESSES:
            break
    return found


def _elf(path: Path) -> Elf:
    with path.open("rb") as file:
        return Elf(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _stack(core: Elf, sp: int, fp: int) -> Stack | None:
    """What lies above the stack pointer, which may have run into the guard page."""
    for kind, _, part in core.segments():
        if kind == PT_LOAD and part.address - GUARD <= sp < part.address + len(part):
            sp = max(sp, part.address)
            begin = part.begin + (sp - part.address) // core.word * core.word
            end = min(part.end, begin + LARGEST_STACK)
            return Stack(Part(begin, end, part.address + begin - part.begin), fp)
    return None


def layout_of(original: Original) -> Layout:
    """Reads the original; it is whole, so whocall says what its threads are."""
    core = _elf(original.core)
    program = _elf(original.program) if original.program else None
    made = Layout(original, core, program)
    with whocall.open_core(str(original.core), str(original.program or "")) as image:
        frames: list[int] = []
        notes = core.data[made.notes.begin : made.notes.end]
        for index, thread in enumerate(image.threads):
            trace = image.backtrace(index, Walk(past_main=True, registers=True, max_frames=64))
            own = trace.frames[0].registers or {}
            fp = own.get("rbp" if made.word == 8 else "ebp", 0)
            stack = _stack(core, thread.sp, fp)
            if stack is not None and len(stack.part) >= 16 * made.word:
                made.stacks.append(stack)
            for value in (thread.pc, thread.sp, fp):
                at = notes.find(made.pack(value)) if value else -1
                if at >= 0:
                    made.registers.append((made.notes.begin + at, value))
            frames += [frame.pc for frame in trace.frames[1:] if not frame.inlined]
        made.true_returns = len(frames)
        made.returns = frames + _return_addresses(image, random.Random(original.name))
    return made
