"""What the oracle needs of a core file: memory, threads, and where each file was mapped."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from corpus.elf import PT_LOAD, Elf, ElfError, Segment

NT_PRSTATUS, NT_AUXV, NT_FILE = 1, 6, 0x46494C45
AT_SYSINFO_EHDR = 33
EXECUTABLE = 1


@dataclass(frozen=True)
class CoreThread:
    """A thread at the moment of the dump."""

    tid: int
    signal: int
    pc: int
    sp: int


@dataclass(frozen=True)
class Mapping:
    """A mapped range of a file, in bytes; the end is exclusive."""

    start: int
    end: int
    offset: int
    path: str


class Core:
    """A core file of x86-64 or i386 Linux."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.elf = Elf(path.read_bytes())
        self.word = self.elf.word
        self._notes = list(self.elf.notes())

    @cached_property
    def threads(self) -> list[CoreThread]:
        """All threads; the one that crashed is first."""
        found = []
        for kind, owner, body in self._notes:
            if kind == NT_PRSTATUS and owner == "CORE":
                signal = struct.unpack_from("<H", body, 12)[0]
                if self.word == 8:
                    (tid,) = struct.unpack_from("<I", body, 32)
                    registers = struct.unpack_from("<27Q", body, 112)
                    found.append(CoreThread(tid, signal, registers[16], registers[19]))
                else:
                    (tid,) = struct.unpack_from("<I", body, 24)
                    registers = struct.unpack_from("<17I", body, 72)
                    found.append(CoreThread(tid, signal, registers[12], registers[15]))
        return found

    @cached_property
    def mappings(self) -> list[Mapping]:
        """The file mappings of NT_FILE."""
        body = next((body for kind, _, body in self._notes if kind == NT_FILE), b"")
        if not body:
            return []
        letter = "Q" if self.word == 8 else "I"
        count, page = struct.unpack_from(f"<2{letter}", body)
        words = struct.unpack_from(f"<{3 * count}{letter}", body, 2 * self.word)
        names = body[(2 + 3 * count) * self.word :].split(b"\0")
        return [
            Mapping(words[3 * i], words[3 * i + 1], words[3 * i + 2] * page, names[i].decode())
            for i in range(count)
        ]

    @cached_property
    def vdso(self) -> tuple[int, Elf] | None:
        """The vdso's load address and image: the one module without a file."""
        body = next((body for kind, _, body in self._notes if kind == NT_AUXV), b"")
        letter = "Q" if self.word == 8 else "I"
        words = struct.unpack(f"<{len(body) // self.word}{letter}", body)
        start = dict(zip(words[::2], words[1::2], strict=True)).get(AT_SYSINFO_EHDR)
        segment = self._segment(start) if start else None
        if start is None or segment is None or not segment.file_size:
            return None
        try:
            return start, Elf(self.elf.data[segment.offset : segment.offset + segment.file_size])
        except ElfError:
            return None

    def _segment(self, address: int) -> Segment | None:
        for segment in self.elf.segments:
            if (
                segment.kind == PT_LOAD
                and segment.address <= address < segment.address + segment.memory_size
            ):
                return segment
        return None

    def is_executable(self, address: int) -> bool:
        """Whether code could run at an address, as far as the core's own headers tell."""
        segment = self._segment(address)
        return segment is not None and bool(segment.flags & EXECUTABLE)

    def read(self, address: int, size: int) -> bytes:
        """Bytes of the dumped memory; LookupError where the core has none."""
        segment = self._segment(address)
        if segment is None or address + size > segment.address + segment.file_size:
            raise LookupError(f"{self.path}: no memory at {address:#x}")
        at = segment.offset + address - segment.address
        return self.elf.data[at : at + size]

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Consecutive machine words."""
        letter = "Q" if self.word == 8 else "I"
        return struct.unpack(f"<{count}{letter}", self.read(address, count * self.word))
