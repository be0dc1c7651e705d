"""Bombs that are programs."""

from __future__ import annotations

import struct
from pathlib import Path

from oracles.tools import run

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import (
    CODE,
    ET_DYN,
    ET_EXEC,
    PT_DYNAMIC,
    PT_LOAD,
    SHF_ALLOC,
    SHT_NOTE,
    SHT_PROGBITS,
    SHT_STRTAB,
    SHT_SYMTAB,
    Image,
    note,
)


def every_command(path: Path) -> list[Command]:
    """What opens a program."""
    return [["functions", str(path)], ["symbol", str(path), hex(CODE)]]


def with_symbols(symbols: list[tuple[int, int, int]], names: bytes) -> Image:
    """A program with functions: (offset of the name, address, size)."""
    image = Image(ET_EXEC, CODE)
    text = image.code()
    table = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", name, 0x12, 0, text, address, size)
        for name, address, size in symbols
    )
    strings = image.section(".strtab", SHT_STRTAB, image.put(names), len(names))
    image.section(
        ".symtab", SHT_SYMTAB, image.put(table), len(table), link=strings, info=1, entry=24
    )
    return image


@bomb("program")
def one_name_of_many_sections(folder: Path) -> list[Command]:
    """200,000 sections share a name of 32 MB."""
    image = Image(ET_EXEC, CODE)
    image.code()
    at = len(image.names)
    image.names += b"n" * (32 << 20) + b"\0"
    for _ in range(200_000):
        image.section(at, SHT_PROGBITS, 0, 0)
    return every_command(image.write(folder / "program"))


@bomb("program", "notes")
def notes_again_and_again(folder: Path) -> list[Command]:
    """20,000 SHT_NOTE over the same notes."""
    image = Image(ET_EXEC, CODE)
    image.code()
    notes = note(b"X", 9, b"") * 30_000
    at = image.put(notes)
    for _ in range(20_000):
        image.section(1, SHT_NOTE, at, len(notes), flags=SHF_ALLOC)
    return every_command(image.write(folder / "program"))


@bomb("program", "names")
def one_name_of_many_functions(folder: Path) -> list[Command]:
    """100,000 functions share a name of 65,000 bytes."""
    names = b"\0" + b"n" * 65_000 + b"\0"
    symbols = [(1, CODE + at % 4096, 1) for at in range(4000)] * 25
    path = with_symbols(symbols, names).write(folder / "program")
    return [["functions", str(path)], ["functions", "--json", str(path)]]


@bomb("program", "names")
def suffixes_of_one_name(folder: Path) -> list[Command]:
    """Each function's name is a part of one name."""
    names = b"\0" + b"n" * 65_000 + b"\0"
    symbols = [(1 + at, CODE + at, 1) for at in range(4000)]
    path = with_symbols(symbols, names).write(folder / "program")
    return [["functions", str(path)], ["functions", str(path), "xyz"]]


@bomb("program")
def functions_around_each_other(folder: Path) -> list[Command]:
    """100,000 functions that begin and end within one another."""
    symbols = [
        (1 + at % 9, CODE + at % 2048, 4096 - at % 2048 - at // 2048) for at in range(100_000)
    ]
    return every_command(with_symbols(symbols, b"\0abcdefghi\0").write(folder / "program"))


@bomb("program")
def segments_over_one_another(folder: Path) -> list[Command]:
    """60,000 PT_LOADs over the same bytes."""
    image = Image(ET_EXEC, CODE)
    image.code()
    for at in range(60_000):
        image.segment(PT_LOAD, 0, 4096, CODE + at, 5, 1 << 20)
    return every_command(image.write(folder / "program"))


@bomb("program", "to search")
def endless_hash_table(folder: Path) -> list[Command]:
    """A hash table of 4,000,000,000 buckets over a hole, and no sections."""
    image = Image(ET_DYN, CODE)
    size = 4 << 30
    at = image.hole(size)
    base = 0x1000_0000
    image.parts.append((at, struct.pack("<IIII", 0xFFFFFFF0, 1, 1, 6)))
    tags = [(5, base), (6, base), (0x6FFFFEF5, base), (10, 1 << 30), (11, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *each) for each in tags)
    place = image.put(dynamic)
    image.segment(PT_LOAD, at, size, base, 5)
    image.segment(PT_LOAD, place, len(dynamic), 0x7000_0000_0000, 6)
    image.segment(PT_DYNAMIC, place, len(dynamic), 0x7000_0000_0000, 6)
    return every_command(image.write(folder / "library.so"))


@bomb("program", "to search")
def segments_without_sections(folder: Path) -> list[Command]:
    """60,000 PT_LOADs over the same 4 MB, and no sections."""
    image = Image(ET_EXEC, CODE)
    code = b"\xc3" * (4 << 20)
    at = image.put(code, 4096)
    for turn in range(60_000):
        image.segment(PT_LOAD, at, len(code), CODE + turn * 16, 5)
    return every_command(image.write(folder / "program"))


@bomb("program", "symbol table")
def symbols_of_a_hole(folder: Path) -> list[Command]:
    """A symbol table of 6 GiB, all of it a hole."""
    image = Image(ET_EXEC, CODE)
    image.code()
    size = 6 << 30
    image.section(".symtab", SHT_SYMTAB, image.hole(size), size, link=1, info=1, entry=24)
    return every_command(image.write(folder / "program"))


@bomb("program")
def a_table_that_reads_in_every_way(folder: Path) -> list[Command]:
    """300,000 texts and functions, which are records of two words, and of four, and of six."""
    count = 300_000
    lines = [".text", ".globl _start", "_start: ret"]
    lines += [f"f{i}: ret" for i in range(count)]
    lines += [".section .rodata", *(f's{i}: .asciz "n{i:x}"' for i in range(count))]
    lines += [".data", *(f".quad s{i}, f{i}" for i in range(count))]
    source, made = folder / "table.s", folder / "program"
    source.write_text("\n".join([*lines, ""]))
    run(["gcc", "-nostdlib", "-static", "-no-pie", "-s", str(source), "-o", str(made)])
    return every_command(made)


def one_exception_table(folder: Path, call: str) -> list[Command]:
    """20,000 functions, and parts of functions, share a table of 100,000 such calls."""
    source = folder / "program.s"
    source.write_text(
        """
        .globl _start
        _start: .rept 20000
        .cfi_startproc
        .cfi_personality 0x1b, _start
        .cfi_lsda 0x1b, table
        nop
        .cfi_endproc
        .cfi_startproc
        .cfi_def_cfa_offset 32
        .cfi_personality 0x1b, _start
        .cfi_lsda 0x1b, table
        jmp .+200
        .cfi_endproc
        .endr
        .section .gcc_except_table,"a"
        table: .byte 0xff, 0xff, 0x01
        .uleb128 end - begin
        begin: .rept 100000
        .uleb128 CALL
        .endr
        end:
        """.replace("CALL", call)
    )
    program = folder / "program"
    run(["gcc", "-nostdlib", "-static-pie", "-o", str(program), str(source)])
    source.unlink()
    return [["functions", str(program)], ["symbol", str(program), "_start"]]


@bomb("program")
def one_exception_table_of_many_functions(folder: Path) -> list[Command]:
    """All calls land somewhere."""
    return one_exception_table(folder, "0, 1, 1, 0")


@bomb("program")
def one_exception_table_that_leads_nowhere(folder: Path) -> list[Command]:
    """None does."""
    return one_exception_table(folder, "0, 1, 0, 0")
