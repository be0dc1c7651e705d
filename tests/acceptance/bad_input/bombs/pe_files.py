"""Bombs that are PE files: programs of Windows, and what .NET compiles for Linux."""

from __future__ import annotations

import struct
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb

MIB = 1 << 20
SECTIONS = 500  # of those that are read
CODE, DATA = 0x60000020, 0x40000040
TEXT = 0x100000  # RVA of the first section
_OPTIONAL = 240
_HEADERS = 64 + 4 + 20 + _OPTIONAL
BASE = 0x140000000


class PeImage:
    """Sections lie in the file as in memory: an address is an offset, too."""

    def __init__(self) -> None:
        self.sections: list[bytes] = []
        self.parts: list[tuple[int, bytes]] = []
        self.end = TEXT
        self.directories = bytearray(16 * 8)
        self.symbols = (0, 0)

    def section(
        self, name: bytes, contents: bytes, flags: int = DATA, size: int | None = None
    ) -> int:
        """Its address."""
        address = -(-self.end // 4096) * 4096
        length = len(contents) if size is None else size
        self.header(name, address, length, flags)
        self.parts.append((address, contents))
        self.end = address + max(len(contents), length)
        return address

    def header(self, name: bytes, address: int, size: int, flags: int = DATA) -> None:
        """A section's header alone."""
        self.sections.append(struct.pack("<8sIIII12xI", name, size, address, size, address, flags))

    def put(self, contents: bytes) -> int:
        """Behind all sections; its offset."""
        at = self.end
        self.parts.append((at, contents))
        self.end = at + len(contents)
        return at

    def directory(self, number: int, address: int, size: int) -> None:
        struct.pack_into("<II", self.directories, number * 8, address, size)

    def export(self, name: bytes, address: int) -> None:
        """One export of this name."""
        at = -(-self.end // 4096) * 4096
        words = struct.pack("<IIIII", at + 52, at + 56, 0, address, at + 64)
        table = (
            bytes(20) + struct.pack("<II", 1, 1) + struct.pack("<III", at + 52, at + 56, at + 60)
        )
        table = table.ljust(52, b"\0") + words[12:16] + words[16:20] + bytes(4) + name + b"\0"
        self.directory(0, self.section(b".edata", table), len(table))

    def write(self, path: Path) -> list[Command]:
        """The whole file, and the commands that open it."""
        head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
        head += struct.pack("<HHIIIHH", 0x8664, len(self.sections), 0, *self.symbols, _OPTIONAL, 34)
        optional = struct.pack("<H14xI4x", 0x20B, TEXT) + struct.pack("<QII", BASE, 4096, 512)
        optional = optional.ljust(56, b"\0") + struct.pack("<II", 0x7FFFFFFF, TEXT)
        head += optional.ljust(108, b"\0") + struct.pack("<I", 16) + self.directories
        with path.open("wb") as file:
            file.write(head + b"".join(self.sections))
            for at, contents in self.parts:
                file.seek(at)
                file.write(contents)
            file.truncate(max(self.end, TEXT))
        return [
            ["audit", str(path)], ["functions", str(path)],
            ["symbol", str(path), hex(BASE + TEXT)],
        ]  # fmt: skip


def _exports(file: PeImage, count: int, address: int) -> None:
    """So many exports of one place, whose names are one."""
    at = -(-file.end // 4096) * 4096
    names = at + 64
    ordinals = names + 4 * count
    text = ordinals + 2 * count
    table = bytearray(text + 16 - at)
    struct.pack_into("<IIII", table, 24, count, text + 8, names, ordinals)
    table[64 : 64 + 4 * count] = struct.pack("<I", text) * count
    table[text - at : text - at + 3] = b"f1\0"
    struct.pack_into("<I", table, text + 8 - at, address)
    file.section(b".edata", bytes(table))
    file.directory(0, at, len(table))


@bomb("PE file")
def exports_behind_all_sections(folder: Path) -> list[Command]:
    """2,000,000 exports, each to be found behind 500 sections."""
    file = PeImage()
    for _ in range(SECTIONS):
        file.header(b".none", 0x70000000, 1)
    code = file.section(b".text", b"\xc3" * 4096, CODE)
    _exports(file, 2_000_000, code)
    return file.write(folder / "library.dll")


@bomb("PE file")
def functions_behind_all_sections(folder: Path) -> list[Command]:
    """400,000 functions whose unwind information lies behind 500 sections."""
    file = PeImage()
    for _ in range(SECTIONS):
        file.header(b".none", 0x70000000, 1)
    code = file.section(b".text", b"\xc3" * 2 * MIB, CODE)
    info = file.section(b".xdata", struct.pack("<4BH2x", 1, 1, 1, 0, 0x5001))
    rows = b"".join(
        struct.pack("<III", code + 2 * at, code + 2 * at + 2, info) for at in range(400_000)
    )
    file.directory(3, file.section(b".pdata", rows), len(rows))
    return file.write(folder / "library.dll")


@bomb("PE file")
def names_that_do_not_end(folder: Path) -> list[Command]:
    """500 sections, each of whose names are the same 64 MB."""
    file = PeImage()
    for _ in range(SECTIONS):
        file.header(b"/16", 0x70000000, 1)
    file.section(b".text", b"\xc3" * 4096, CODE)
    file.symbols = (file.put(b"n" * (64 * MIB)), 0)
    return file.write(folder / "library.dll")


@bomb("PE file")
def symbols_of_one_name(folder: Path) -> list[Command]:
    """3,000,000 symbols that share a name of 16,000 bytes."""
    count = 3_000_000
    file = PeImage()
    file.section(b".text", b"\xc3" * 4096, CODE)
    row = struct.pack("<IIIHHBB", 0, 16, 8, 1, 0x20, 2, 0)
    file.symbols = (file.put(row * count + bytes(16) + b"n" * 16_000 + b"\0"), count)
    return file.write(folder / "program.exe")


@bomb("PE file")
def returns_without_end(folder: Path) -> list[Command]:
    """A function of 64 MB that is nothing but returns."""
    file = PeImage()
    code = file.section(b".text", b"\x5d\xc3" * 32 * MIB, CODE)
    info = file.section(b".xdata", struct.pack("<4BH2x", 1, 1, 1, 0, 0x5001))
    row = struct.pack("<III", code, code + 64 * MIB, info)
    file.directory(3, file.section(b".pdata", row), len(row))
    return file.write(folder / "program.exe")


@bomb("PE file")
def parts_of_one_another(folder: Path) -> list[Command]:
    """1,000,000 functions that are parts of parts, each of 255 operations."""
    file = PeImage()
    code = file.section(b".text", b"\x90\xc3" * MIB, CODE)
    at = -(-file.end // 4096) * 4096
    one = struct.pack("<4B", 1 | 4 << 3, 1, 254, 0) + struct.pack("<BB", 1, 0x50) * 254
    one += struct.pack("<III", code, code + 2, at)  # goes on with itself
    info = file.section(b".xdata", one)
    rows = b"".join(
        struct.pack("<III", code + 2 * at, code + 2 * at + 2, info) for at in range(1_000_000)
    )
    file.directory(3, file.section(b".pdata", rows), len(rows))
    return file.write(folder / "library.dll")


@bomb("PE file")
def sections_over_one_another(folder: Path) -> list[Command]:
    """500 sections that are the same 64 MB of code, of which all else is a hole."""
    file = PeImage()
    for _ in range(SECTIONS):
        file.header(b".text", TEXT, 64 * MIB, CODE)
    file.section(b".text", b"\xc3" * 4096, CODE, 64 * MIB)
    return file.write(folder / "program.exe")
