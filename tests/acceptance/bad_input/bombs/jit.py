"""Bombs that tell the names of code that is in no file."""

from __future__ import annotations

import struct
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import PT_LOAD, core, note, status

PID = 4242
JIT = 0x600000000000


def _core(folder: Path) -> list[Command]:
    """A core of the process with code that is nobody's."""
    info = bytearray(136)
    struct.pack_into("<I", info, 24, PID)
    image = core(status(PID, pc=JIT + 8), note(b"CORE", 3, bytes(info)))
    image.segment(PT_LOAD, image.put(b"\x90" * 4096, 4096), 4096, JIT, 5)
    path = str(image.write(folder / "core"))
    return [["bt", path], ["modules", path]]


def _record(kind: int, contents: bytes) -> bytes:
    return struct.pack("<IIQ", kind, 16 + len(contents), 1) + contents


def _load(index: int, at: int = JIT, size: int = 64) -> bytes:
    place = struct.pack("<IIQQQQ", PID, PID, at, at, size, index)
    return _record(0, place + b"f%d\0" % index)


def _move(index: int, to: int) -> bytes:
    return _record(1, struct.pack("<IIQQQQQ", PID, PID, to, JIT, to, 64, index))


def _lines(count: int) -> bytes:
    rows = b"".join(struct.pack("<QII", JIT + at % 64, at, 0) + b"f\0" for at in range(count))
    return _record(2, struct.pack("<QQ", JIT, count) + rows)


def _dump(folder: Path, *records: bytes) -> list[Command]:
    header = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, PID, 1, 0)
    (folder / f"jit-{PID}.dump").write_bytes(header + b"".join(records))
    return _core(folder)


@bomb("jit")
def lines_that_move(folder: Path) -> list[Command]:
    """A million lines of a function that moves 5,000 times."""
    moves = b"".join(_move(1, JIT + at % 64 * 16) for at in range(5000))
    return _dump(folder, _lines(1_000_000), _load(1), moves)


@bomb("jit", "source lines")
def lines_without_end(folder: Path) -> list[Command]:
    """Five million lines."""
    return _dump(folder, _lines(5_000_000), _load(1))


@bomb("jit", "functions of JIT code")
def functions_without_end(folder: Path) -> list[Command]:
    """1,200,000 functions."""
    return _dump(folder, *(_load(at, JIT + at * 64) for at in range(1_200_000)))


@bomb("jit", "functions of JIT code")
def moves_without_end(folder: Path) -> list[Command]:
    """One function that moves 1,200,000 times."""
    return _dump(folder, _load(1), *(_move(1, JIT + at * 64) for at in range(1_200_000)))


@bomb("jit", "functions of JIT code")
def perf_map_without_end(folder: Path) -> list[Command]:
    """1,500,000 functions of a perf map."""
    text = "".join(f"{JIT + at * 64:x} 40 f{at}\n" for at in range(1_500_000))
    (folder / f"perf-{PID}.map").write_text(text)
    return _core(folder)


@bomb("jit")
def symbol_file_without_end(folder: Path) -> list[Command]:
    """A Breakpad file of a million functions that are everywhere."""
    lines = (f"FUNC {at % 4096 + 0x1000:x} ffffff 0 f{at}\n" for at in range(1_000_000))
    path = folder / "program.sym"
    path.write_text(
        "MODULE Linux x86_64 000000000000000000000000000000000 program\n" + "".join(lines)
    )
    from acceptance.bad_input.bombs.elf_image import ET_EXEC, Image

    image = Image(ET_EXEC)
    image.code()
    program = image.write(folder / "program")
    return [["functions", str(program), "--symbols", str(path)]]
