"""Which files a program on gdb's target has loaded, and where: from the auxiliary vector and the
dynamic linker's list, which any ELF target has, local or remote.

Source: the r_debug rendezvous of <link.h>; System V ABI, "Dynamic Linking".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gdb

Reader = Callable[[int, int], bytes]

AT_PHDR, AT_PHENT, AT_PHNUM, AT_BASE, AT_ENTRY = 3, 4, 5, 7, 9
PT_DYNAMIC, PT_INTERP, PT_PHDR = 2, 3, 6
DT_DEBUG, DT_MIPS_RLD_MAP, DT_MIPS_RLD_MAP_REL = 21, 0x70000016, 0x70000035
MOST_FILES = 10_000  # a damaged list may run in circles


@dataclass(frozen=True)
class LoadedFile:
    """A loaded file; runtime address = link address + bias (bytes)."""

    path: str
    bias: int
    is_executable: bool


@dataclass(frozen=True)
class _Segment:
    kind: int
    address: int  # link address
    size: int


class _Words:
    """Reads integers of the target's size and byte order; unreadable memory raises LookupError."""

    def __init__(self, read: Reader, size: int, big: bool) -> None:
        self.read = read
        self.size = size
        self._big = big

    def integer(self, address: int, size: int) -> int:
        data = self.read(address, size)
        if len(data) < size:
            raise LookupError(address)
        return int.from_bytes(data, "big" if self._big else "little")

    def pointer(self, address: int) -> int:
        return self.integer(address, self.size)

    def text(self, address: int) -> str:
        return self.read(address, 4096).split(b"\0", 1)[0].decode(errors="replace")


def auxiliary_vector() -> dict[int, int]:
    """What the kernel told the program, by AT_ number; empty when the target does not tell."""
    try:
        said = gdb.execute("info auxv", to_string=True)
    except gdb.error:
        return {}
    vector: dict[int, int] = {}
    for line in said.splitlines():
        match = re.match(r'(\d+)\s+(?:AT_\w+|\?\?\?).*?\s(0x[0-9a-f]+|\d+)(?:\s+".*")?\s*$', line)
        if match is not None:
            vector[int(match.group(1))] = int(match.group(2), 0)
    return vector


def _segments(words: _Words, vector: dict[int, int]) -> Iterator[_Segment]:
    for index in range(vector[AT_PHNUM]):
        at = vector[AT_PHDR] + index * vector[AT_PHENT]
        kind = words.integer(at, 4)
        if words.size == 8:
            yield _Segment(kind, words.pointer(at + 16), words.pointer(at + 40))
        else:
            yield _Segment(kind, words.pointer(at + 8), words.pointer(at + 20))


def _entry_of(exe: str, words: _Words) -> int | None:
    """e_entry of the file, a link address."""
    try:
        with Path(exe).open("rb") as file:
            head = file.read(32)
    except OSError:
        return None
    if head[:4] != b"\x7fELF":
        return None
    return int.from_bytes(head[24 : 24 + words.size], "big" if head[5] == 2 else "little")


def _bias(vector: dict[int, int], exe: str, words: _Words, segments: list[_Segment]) -> int:
    """Of the program: where its headers are against where they were linked to be."""
    for segment in segments:
        if segment.kind == PT_PHDR:
            return vector[AT_PHDR] - segment.address
    entry = _entry_of(exe, words)
    return vector.get(AT_ENTRY, entry or 0) - entry if entry is not None else 0


def _rendezvous(words: _Words, dynamic: int, size: int) -> int:
    """The address of r_debug out of the dynamic section; 0 before the linker has set it."""
    for at in range(dynamic, dynamic + size, words.size * 2):
        tag, value = words.pointer(at), words.pointer(at + words.size)
        if tag == DT_DEBUG and value:
            return value
        if tag == DT_MIPS_RLD_MAP:
            return words.pointer(value)
        if tag == DT_MIPS_RLD_MAP_REL:
            return words.pointer(at + value)
        if tag == 0:
            break
    return 0


def _linked(words: _Words, rendezvous: int) -> Iterator[LoadedFile]:
    entry = words.pointer(rendezvous + words.size)
    for _ in range(MOST_FILES):
        if not entry:
            return
        bias = words.pointer(entry)
        path = words.text(words.pointer(entry + words.size))
        if path.startswith("/"):
            yield LoadedFile(path, bias, False)
        entry = words.pointer(entry + 3 * words.size)


def _architecture() -> tuple[int, bool]:
    """Pointer size in bytes, and whether the target is big-endian."""
    size = gdb.newest_frame().read_register("pc").type.sizeof  # Rust and Modula-2 know no void
    return size, "big endian" in gdb.execute("show endian", to_string=True)


def loaded_files(read: Reader, vector: dict[int, int], exe: str) -> list[LoadedFile]:
    """The program first, then its libraries. `exe` is the program's file as gdb knows it.

    Without an auxiliary vector (bare metal) there is only the program, at its link addresses.
    """
    if AT_PHDR not in vector:
        return [LoadedFile(exe, 0, True)]
    words = _Words(read, *_architecture())
    try:
        segments = list(_segments(words, vector))
    except LookupError:
        return [LoadedFile(exe, 0, True)]
    bias = _bias(vector, exe, words, segments)
    files = [LoadedFile(exe, bias, True)]
    interpreter = next((s for s in segments if s.kind == PT_INTERP), None)
    try:
        dynamic = next((s for s in segments if s.kind == PT_DYNAMIC), None)
        rendezvous = _rendezvous(words, dynamic.address + bias, dynamic.size) if dynamic else 0
        if rendezvous:
            files += _linked(words, rendezvous)
    except LookupError:
        pass  # a damaged list: what was read of it is kept
    if len(files) == 1 and interpreter is not None and vector.get(AT_BASE):
        # Before the linker has run there is no list, but the linker itself is there.
        files.append(LoadedFile(words.text(interpreter.address + bias), vector[AT_BASE], False))
    return files
