"""Bombs that are minidumps."""

from __future__ import annotations

import struct
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import CODE

_SYSTEM, _THREADS, _MODULES, _MEMORY, _MEMORY64, _NAMES, _MAPS = 7, 3, 4, 5, 9, 24, 0x47670009


class Dump:
    """A minidump of x86-64 Linux: streams one after the other behind what they point to."""

    def __init__(self) -> None:
        self.data = bytearray(32)
        self.streams: list[tuple[int, int, int]] = []
        context = bytearray(1232)
        struct.pack_into("<I", context, 0x30, 0x10001F)
        struct.pack_into("<QQ", context, 0x98, 0x7FFF00000000, 0)
        struct.pack_into("<Q", context, 0xF8, CODE)
        self.context = self.put(bytes(context))
        system = bytearray(56)
        struct.pack_into("<H", system, 0, 9)
        struct.pack_into("<I", system, 20, 0x8201)
        self.stream(_SYSTEM, bytes(system))

    def put(self, contents: bytes) -> int:
        """Where it lies."""
        at = len(self.data)
        self.data += contents
        return at

    def stream(self, kind: int, contents: bytes) -> None:
        """One stream."""
        self.streams.append((kind, len(contents), self.put(contents)))

    def thread(self, lwp: int) -> bytes:
        """A row of the list of threads; all have the same registers."""
        return struct.pack("<4I2Q4I", lwp, 0, 0, 0, 0, 0x7FFF00000000, 0, 0, 1232, self.context)

    def threads(self, count: int = 1) -> None:
        """The list of threads."""
        rows = b"".join(map(self.thread, range(1, count + 1)))
        self.stream(_THREADS, struct.pack("<I", count) + rows)

    def write(self, path: Path) -> list[Command]:
        """Writes it; the commands that open it."""
        at = self.put(b"".join(struct.pack("<III", *each) for each in self.streams))
        struct.pack_into(
            "<IIIIIIQ", self.data, 0, 0x504D444D, 0xA793, len(self.streams), at, 0, 0, 0
        )
        path.write_bytes(self.data)
        core = str(path.with_name("made.core"))
        return [["bt", str(path)], ["modules", str(path)], ["unpack", str(path), "-o", core]]


@bomb("minidump")
def modules_without_end(folder: Path) -> list[Command]:
    """300,000 modules that share a name."""
    dump = Dump()
    dump.threads()
    name = dump.put(struct.pack("<I", 20) + "/lib/a.so.".encode("utf-16-le"))
    rows = b"".join(
        struct.pack("<QIIII52xII24x", 0x10000 + at * 0x1000, 0x1000, 0, 0, name, 0, 0)
        for at in range(300_000)
    )
    dump.stream(_MODULES, struct.pack("<I", 300_000) + rows)
    return dump.write(folder / "modules.dmp")


@bomb("minidump")
def modules_of_long_names(folder: Path) -> list[Command]:
    """100,000 modules whose names are parts of one another."""
    dump = Dump()
    dump.threads()
    name = dump.put(struct.pack("<I", 8192) * 2048 + bytes(8192))
    rows = b"".join(
        struct.pack(
            "<QIIII52xII24x", 0x10000 + at * 0x1000, 0x1000, 0, 0, name + 4 * (at % 2000), 0, 0
        )
        for at in range(100_000)
    )
    dump.stream(_MODULES, struct.pack("<I", 100_000) + rows)
    return dump.write(folder / "names.dmp")


@bomb("minidump")
def threads_of_one_context(folder: Path) -> list[Command]:
    """300,000 threads with the same registers."""
    dump = Dump()
    dump.threads(300_000)
    return dump.write(folder / "threads.dmp")


@bomb("minidump")
def memory_again_and_again(folder: Path) -> list[Command]:
    """500,000 pieces of memory, all of them the same megabyte of the file."""
    dump = Dump()
    dump.threads()
    at = dump.put(bytes(1 << 20))
    rows = b"".join(
        struct.pack("<QII", 0x10000000 + turn * (1 << 20), 1 << 20, at) for turn in range(500_000)
    )
    dump.stream(_MEMORY, struct.pack("<I", 500_000) + rows)
    return dump.write(folder / "memory.dmp")


@bomb("minidump")
def pieces_of_memory_beside_modules(folder: Path) -> list[Command]:
    """500,000 pieces of memory, 8,000 modules, and no list of mappings that they lie in."""
    dump = Dump()
    dump.threads()
    name = dump.put(struct.pack("<I", 20) + "/lib/a.so.".encode("utf-16-le"))
    modules = b"".join(
        struct.pack("<QIIII52xII24x", 0x10000 + turn * 0x1000, 0x1000, 0, 0, name, 0, 0)
        for turn in range(8_000)
    )
    dump.stream(_MODULES, struct.pack("<I", 8_000) + modules)
    at = dump.put(bytes(64))
    rows = b"".join(struct.pack("<QII", (turn + 1) << 32, 64, at) for turn in range(500_000))
    dump.stream(_MEMORY, struct.pack("<I", 500_000) + rows)
    return dump.write(folder / "pieces.dmp")


@bomb("minidump")
def mappings_without_end(folder: Path) -> list[Command]:
    """A list of 400,000 mappings over one another."""
    dump = Dump()
    dump.threads()
    lines = (
        f"{at * 4096:x}-{at * 4096 + (1 << 40):x} r-xp 00000000 00:00 0 /lib/{at}\n"
        for at in range(1, 400_000)
    )
    dump.stream(_MAPS, "".join(lines).encode())
    return dump.write(folder / "mappings.dmp")


@bomb("minidump")
def names_without_end(folder: Path) -> list[Command]:
    """A million names of threads that are not there."""
    dump = Dump()
    dump.threads()
    name = dump.put(struct.pack("<I", 8000) + b"n\0" * 4000)
    rows = b"".join(struct.pack("<III", at, name, 0) for at in range(1_000_000))
    dump.stream(_NAMES, struct.pack("<I", 1_000_000) + rows)
    return dump.write(folder / "names.dmp")
