"""Bombs that are packed: sections, .gnu_debugdata, cores."""

from __future__ import annotations

import gzip
import lzma
import struct
import zlib
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import (
    CODE,
    ET_EXEC,
    SHF_COMPRESSED,
    SHT_PROGBITS,
    Image,
    core,
    status,
)

MIB = 1 << 20


def _zeros(size: int) -> bytes:
    """`size` bytes of nothing by zlib."""
    packer = zlib.compressobj(9)
    piece = bytes(MIB)
    return b"".join(packer.compress(piece) for _ in range(size // MIB)) + packer.flush()


def _program() -> Image:
    image = Image(ET_EXEC, CODE)
    image.code()
    return image


def _every_command(path: Path) -> list[Command]:
    return [
        ["symbol", str(path), hex(CODE)], ["functions", str(path)],
    ]  # fmt: skip


@bomb("packed", "compressed parts")
def one_bomb_in_many_sections(folder: Path) -> list[Command]:
    """400 .zdebug_info over one bomb of 200 MB."""
    image = _program()
    size = 200 * MIB
    contents = b"ZLIB" + struct.pack(">Q", size) + _zeros(size)
    at = image.put(contents)
    for _ in range(400):
        image.section(".zdebug_info", SHT_PROGBITS, at, len(contents))
    return _every_command(image.write(folder / "program"))[:1]


@bomb("packed", "compressed parts")
def one_section_of_zeros(folder: Path) -> list[Command]:
    """A .debug_info that says that it has 300 MB, and has."""
    image = _program()
    size = 300 * MIB
    contents = struct.pack("<IIQQ", 1, 0, size, 1) + _zeros(size)
    image.section(
        ".debug_info", SHT_PROGBITS, image.put(contents), len(contents), flags=SHF_COMPRESSED
    )
    return _every_command(image.write(folder / "program"))[:1]


@bomb("packed")
def sections_that_lie(folder: Path) -> list[Command]:
    """200 sections that say that they have 900 times their size."""
    image = _program()
    body = _zeros(64 * MIB)[: MIB // 16]
    contents = struct.pack("<IIQQ", 1, 0, len(body) * 900, 1) + body
    at = image.put(contents)
    for name in (".debug_info", ".debug_line", ".debug_str", ".debug_abbrev") * 50:
        image.section(name, SHT_PROGBITS, at, len(contents), flags=SHF_COMPRESSED)
    return _every_command(image.write(folder / "program"))


@bomb("packed")
def hidden_symbols(folder: Path) -> list[Command]:
    """A .gnu_debugdata that becomes 400 MB."""
    image = _program()
    packer = lzma.LZMACompressor(format=lzma.FORMAT_XZ, preset=0)
    piece = bytes(16 * MIB)
    contents = b"".join(packer.compress(piece) for _ in range(25)) + packer.flush()
    image.section(".gnu_debugdata", SHT_PROGBITS, image.put(contents), len(contents))
    return _every_command(image.write(folder / "program"))


def _packed_core(folder: Path) -> bytes:
    return core(status(1)).write(folder / "plain.core").read_bytes()


@bomb("packed")
def core_by_gzip(folder: Path) -> list[Command]:
    """A core with 2 GiB of zeros behind it."""
    path = folder / "core.gz"
    path.write_bytes(gzip.compress(_packed_core(folder)) + gzip.compress(bytes(64 * MIB)) * 32)
    return [["bt", str(path)]]


@bomb("packed")
def core_by_xz(folder: Path) -> list[Command]:
    """The same by xz."""
    path = folder / "core.xz"
    zeros = lzma.compress(bytes(64 * MIB), preset=0)
    path.write_bytes(lzma.compress(_packed_core(folder), preset=0) + zeros * 32)
    return [["bt", str(path)]]


@bomb("packed")
def core_of_empty_members(folder: Path) -> list[Command]:
    """A million empty members of gzip before the core."""
    path = folder / "core.gz"
    path.write_bytes(gzip.compress(b"", mtime=0) * 1_000_000 + gzip.compress(_packed_core(folder)))
    return [["bt", str(path)]]


@bomb("packed")
def core_in_front_of_a_hole(folder: Path) -> list[Command]:
    """200 GB of nothing behind a stream of gzip, which padding may follow."""
    path = folder / "core.gz"
    path.write_bytes(gzip.compress(_packed_core(folder)))
    with path.open("r+b") as file:
        file.truncate(200_000 * MIB)
    return [["bt", str(path)]]


def _lines(before: bytes, line: bytes) -> bytes:
    """A text by gzip, and 8 GiB of a line behind it."""
    many = line * (64 * MIB // len(line))
    return gzip.compress(before, mtime=0) + gzip.compress(many, mtime=0) * 128


@bomb("packed")
def report_of_empty_lines(folder: Path) -> list[Command]:
    """A crash report in which the core never comes."""
    path = folder / "report.gz"
    path.write_bytes(_lines(b"ProblemType: Crash\n", b"\n"))
    return [["bt", str(path)]]


@bomb("packed")
def report_of_one_line(folder: Path) -> list[Command]:
    """The same, all of it one line."""
    path = folder / "report.gz"
    path.write_bytes(_lines(b"ProblemType: Crash\nTitle: ", b"x"))
    return [["bt", str(path)]]


@bomb("packed")
def report_with_an_empty_core(folder: Path) -> list[Command]:
    """A core in lines that hold nothing."""
    path = folder / "report.gz"
    path.write_bytes(_lines(b"ProblemType: Crash\nCoreDump: base64\n", b" \n"))
    return [["bt", str(path)]]
