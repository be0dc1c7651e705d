"""A program without unwind tables and frame pointers, and the file of rules beside it."""

from __future__ import annotations

import bisect
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from oracles import nm_table

from runtime.lab import build

WHOCALL = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
BARE = (
    *("-O2", "-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"),
    "-fomit-frame-pointer",
)
CHAIN = ["ask", "many", "kept", "compare", "sized", "deep", "deep", "deep", "deep", "main"]


@dataclass(frozen=True)
class Asked:
    """What a program said of its stack: of its own frames the link addresses, and all trusts."""

    own: list[int]
    trusts: list[str]


def stripped(folder: Path, *flags: str, triple: str = "x86_64-linux-gnu") -> tuple[Path, Path]:
    """The program without its symbols, and its twin with them."""
    compiler = f"{triple}-gcc"
    program = build(folder, "no_tables.c", *BARE, *flags, compiler=compiler, name="program")
    twin = Path(shutil.copy(program, folder / "twin"))
    subprocess.run([f"{triple}-strip", program], check=True)
    return program, twin


def export(program: Path) -> Path:
    """Write the file that the library looks for."""
    written = program.with_name(program.name + ".whocall")
    command = [sys.executable, WHOCALL, "export", program, "-o", written]
    subprocess.run(command, check=True, capture_output=True)
    return written


def read(program: Path, output: str) -> Asked:
    """Read what the program printed when it was asked."""
    first, *lines = output.splitlines()
    assert first == "captured: as many"
    frames = [line.split()[1:] for line in lines]
    own = [int(offset, 16) for offset, module, _ in frames if module == str(program)]
    return Asked(own, [trust for *_, trust in frames])


def names(twin: Path, addresses: list[int]) -> list[str]:
    """Of the functions around addresses of code; return addresses but for the first.

    Without "tail", whose call is a jump where arguments need no stack.
    """
    table = [each for each in nm_table.symbols(twin) if not each.name.startswith("$")]
    places = [address - (number != 0) for number, address in enumerate(addresses)]
    found = [
        table[bisect.bisect_right(table, place, key=lambda each: each.address) - 1].name
        for place in places
    ]
    return [name for name in found if name != "tail"]
