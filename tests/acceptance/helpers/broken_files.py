"""A small crashed program, and everything that can be wrong with its files."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from corpus.corefile import Core
from oracles import nm_table
from places.capabilities import give_up

import whocall

SCRIPT = Path(whocall.__file__).resolve().parent.parent / "whocall.py"

SOURCE = """
#include <unistd.h>
__attribute__((noipa)) int inner(int *p) { return *(volatile int *)p; }
__attribute__((noipa)) int middle(int n) { return inner((int *)(long)n) + 1; }
__attribute__((noipa)) int waiting(int n) { for (;;) pause(); return n; }
int main(int c, char **v) { return (c > 1 ? waiting(c) : middle(c - 1)) + (v == 0); }
"""
CHAIN = ["inner", "middle", "main"]

_ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
PT_LOAD, PT_NOTE = 1, 4


@dataclass(frozen=True)
class Crash:
    """A stripped program, its twin with symbols, and its core."""

    exe: Path
    twin: Path
    core: Path


@dataclass(frozen=True)
class Ran:
    """What the command line said."""

    out: str
    err: str
    status: int

    def frames(self) -> list[int]:
        """The pcs of the text's frames."""
        return [int(pc, 16) for pc in re.findall(r"^#\d+ +0x([0-9a-f]+) in", self.out, re.M)]


def crash(directory: Path, *flags: str, source: str = SOURCE) -> Crash:
    """Compile, strip, crash under gdb, and keep the core."""
    directory.mkdir(parents=True, exist_ok=True)
    made = Crash(directory / "prog", directory / "prog.twin", directory / "prog.core")
    command = ["gcc", "-O1", *flags, "-x", "c", "-", "-o", str(made.twin)]
    subprocess.run(command, input=source, text=True, check=True)
    subprocess.run(["strip", "-o", str(made.exe), str(made.twin)], check=True)
    steps = ["set debuginfod enabled off", "run", f"generate-core-file {made.core}"]
    gdb = ["gdb", "-nx", "-q", "-batch", *(word for step in steps for word in ("-ex", step))]
    subprocess.run([*gdb, str(made.exe)], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return made


def notes_first(core: bytes) -> bytes:
    """The core as the kernel lays it out: notes right behind the headers. gdb writes them last, so
    that a core of gdb that is cut off anywhere has no threads.
    """
    header = list(_ELF_HEADER.unpack_from(core))
    start, count = header[5], header[10]
    headers = [
        list(_PROGRAM_HEADER.unpack_from(core, start + at * _PROGRAM_HEADER.size))
        for at in range(count)
    ]
    headers.sort(key=lambda each: each[0] != PT_NOTE)
    offset = _ELF_HEADER.size + count * _PROGRAM_HEADER.size
    table, contents = b"", b""
    for each in headers:
        piece = core[each[2] : each[2] + each[5]]
        each[2] = offset + len(contents)
        contents += piece
        table += _PROGRAM_HEADER.pack(*each)
    header[5], header[6], header[11:] = _ELF_HEADER.size, 0, [0, 0, 0]
    return _ELF_HEADER.pack(*header) + table + contents


def segments(core: bytes) -> list[tuple[int, int, int, int]]:
    """(type, offset in the file, address, bytes in the file) of every program header."""
    header = _ELF_HEADER.unpack_from(core)
    found = []
    for at in range(header[10]):
        each = _PROGRAM_HEADER.unpack_from(core, header[5] + at * _PROGRAM_HEADER.size)
        found.append((each[0], each[2], each[3], each[5]))
    return found


def offset_of(core: bytes, address: int) -> int:
    """Where in the file the byte at a runtime address lies."""
    for kind, offset, start, size in segments(core):
        if kind == PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ValueError(f"{address:#x} is not in the core")


def foreign_header(machine: int, kind: int = 4, *, big: bool = False) -> bytes:
    """A file of another machine that is correct as far as it goes: a header and an empty note."""
    order = ">" if big else "<"
    ident = b"\x7fELF" + bytes([2, 2 if big else 1, 1]) + bytes(9)
    header = struct.pack(
        order + "16sHHIQQQIHHHHHH", ident, kind, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return header + struct.pack(order + "IIQQQQQQ", PT_NOTE, 4, 120, 0, 0, 0, 0, 4)


def run(*arguments: str | Path | bytes) -> Ran:
    """`python3 gdbext/whocall.py ARGUMENTS`; ends by itself, and by no signal."""
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
    )
    out, err = (stream.decode("utf-8", "replace") for stream in (ran.stdout, ran.stderr))
    assert ran.returncode >= 0, f"signal {-ran.returncode}: {err}"
    assert "Traceback" not in err, err
    return Ran(out, err, ran.returncode)


def complaint(*arguments: str | Path | bytes) -> str:
    """The one sentence of a command that can tell nothing."""
    ran = run(*arguments)
    assert ran.status == 1, (ran.status, ran.out, ran.err)
    assert ran.out == ""
    assert ran.err.startswith("whocall: ")
    assert ran.err.count("\n") == 1
    return ran.err.rstrip("\n")


def told(*arguments: str | Path) -> Ran:
    """What a command tells in spite of what is wrong."""
    ran = run(*arguments)
    assert ran.status == 0, (ran.status, ran.out, ran.err)
    return ran


def run_without_privileges(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command line without the capabilities of root. Its user stays, as no other one may enter
    every folder that a checkout can lie in.
    """
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=30, preexec_fn=give_up,
    )  # fmt: skip


def check_chain(pcs: list[int], made: Crash) -> None:
    """The innermost frames lie in the program's own functions, as its twin's symbols say."""
    starts = [(symbol.address, symbol.name) for symbol in nm_table.symbols(made.twin)]
    mappings = Core(made.core).mappings
    base = next(each.start - each.offset for each in mappings if each.path == str(made.exe))
    names = [max(start for start in starts if start[0] <= pc - base)[1] for pc in pcs[:3]]
    assert names == CHAIN
