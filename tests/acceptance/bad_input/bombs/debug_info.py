"""Bombs that are unwind tables and debug information."""

from __future__ import annotations

import struct
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import (
    CODE,
    ET_EXEC,
    PT_LOAD,
    SHF_ALLOC,
    SHT_PROGBITS,
    Image,
)

FRAMES = 0x800000
CIE = struct.pack("<II", 20, 0) + b"\x01zR\0\x01\x78\x10\x01\x00\x0c\x07\x08\x90\x01" + bytes(2)


def _with_frames(folder: Path, *entries: bytes) -> list[Command]:
    """A program whose .eh_frame has these FDEs, each without its first two words."""
    table = bytearray(CIE)
    for entry in entries:
        padded = entry + bytes(-len(entry) % 4)
        table += struct.pack("<II", len(padded) + 4, len(table) + 4) + padded
    table += bytes(4)
    image = Image(ET_EXEC, CODE)
    image.code()
    at = image.put(bytes(table), 4096)
    image.segment(PT_LOAD, at, len(table), FRAMES)
    image.section(".eh_frame", SHT_PROGBITS, at, len(table), flags=SHF_ALLOC, address=FRAMES)
    path = str(image.write(folder / "program"))
    return [
        ["functions", path], ["audit", path], ["export", path, "-o", str(folder / "exported")],
    ]  # fmt: skip


def _entry(program: bytes, begin: int = CODE, size: int = 4096) -> bytes:
    return struct.pack("<QQ", begin, size) + b"\0" + program


@bomb("debug info")
def rows_of_one_place(folder: Path) -> list[Command]:
    """300,000 FDEs of the same code."""
    return _with_frames(folder, *[_entry(b"")] * 300_000)


@bomb("debug info")
def program_without_end(folder: Path) -> list[Command]:
    """A row program of 16 MB that goes on by no byte."""
    return _with_frames(folder, _entry(b"\x40\x0e\x10" * (16 << 18)))


@bomb("debug info")
def states_remembered(folder: Path) -> list[Command]:
    """Sixteen million states to remember."""
    return _with_frames(folder, _entry(b"\x0a" * (16 << 20)))


@bomb("debug info")
def program_of_many(folder: Path) -> list[Command]:
    """4,000 FDEs of 4,096 rows each."""
    return _with_frames(folder, *[_entry(b"\x41\x0e\x10" * 4096, CODE + at) for at in range(1000)])


@bomb("debug info")
def rows_without_end(folder: Path) -> list[Command]:
    """A function of 64 MB with five million rows, each of which tells of 30 registers."""
    saved = b"".join(bytes([0x80 | number, 2]) for number in range(30))
    program = saved + b"\x41\x0e\x10" * (5 << 20)
    return _with_frames(folder, _entry(program, size=64 << 20))[::-1]


def _with_units(folder: Path, tree: bytes, lines: bytes) -> list[Command]:
    """A program with one unit of DWARF 4, whose children are `tree`, and its line program."""
    abbreviations = (
        b"\x01\x11\x01\x11\x01\x12\x06\x10\x17\x00\x00"  # unit: low_pc, high_pc, stmt_list
        b"\x02\x1d\x01\x11\x01\x12\x06\x00\x00"  # inlined: low_pc, high_pc; children
        b"\x03\x2e\x01\x03\x08\x11\x01\x12\x06\x00\x00\x00"  # function: name, low_pc, high_pc
    )
    unit = b"\x01" + struct.pack("<QII", CODE, 4096, 0) + tree + b"\0"
    head = struct.pack("<HIB", 4, 0, 8)
    info = struct.pack("<I", len(head) + len(unit)) + head + unit
    opcodes = b"\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"
    tables = b"\x01\x01\x01\xfb\x0e\x0d" + opcodes + b"\0" + b"a.c\0\0\0\0\0"
    program = b"\x00\x09\x02" + struct.pack("<Q", CODE) + lines + b"\x02\x80\x20\x00\x01\x01"
    rest = struct.pack("<I", len(tables)) + tables + program
    line = struct.pack("<IH", len(rest) + 2, 4) + rest
    image = Image(ET_EXEC, CODE)
    image.code()
    for name, contents in (
        (".debug_abbrev", abbreviations), (".debug_info", info), (".debug_line", line),
    ):  # fmt: skip
        image.section(name, SHT_PROGBITS, image.put(contents), len(contents))
    path = str(image.write(folder / "program"))
    return [["symbol", path, hex(CODE + 16)], ["functions", path]]


@bomb("debug info")
def lines_of_one_place(folder: Path) -> list[Command]:
    """Eight million rows of lines."""
    return _with_units(folder, b"", b"\x13" * (8 << 20))


@bomb("debug info")
def calls_inlined_into_one_another(folder: Path) -> list[Command]:
    """200,000 inlined calls, each in the one before."""
    function = b"\x03f\0" + struct.pack("<QI", CODE, 4096)
    call = b"\x02" + struct.pack("<QI", CODE, 4096)
    tree = function + call * 200_000 + b"\0" * 200_001
    return _with_units(folder, tree, b"\x13" * 16)
