"""The exception tables of ARM (.ARM.exidx), entry by entry, against two witnesses.

readelf decodes what belongs to the ABI's own routines. What belongs to a language's (in C++ each
function that catches or cleans up) it leaves alone: there the compiler itself is the witness, which
wrote the same frames into .debug_frame.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import pytest
from oracles import readelf_exidx
from oracles.tools import lines

from acceptance.rows.cfi_sources import C_SOURCE, CPP_SOURCE
from whocall.base.native_module import native

LIBRARIES = Path("/usr/arm-linux-gnueabihf/lib")
EXIDX, DEBUG = ".ARM.exidx", ".debug_frame"
TRIPLE = "arm-linux-gnueabihf"

Row = tuple[str, dict[str, str]]


def ours(path: Path) -> list[tuple[int, Row | None]]:
    """Each entry's start and its row."""
    found = native.cfi_rows(str(path), EXIDX)
    return [(begin, rows[0][1:] if rows else None) for begin, _, rows in found]


@pytest.mark.parametrize(
    ("name", "least"),
    [("libstdc++.so.6", 2000), ("libc.so.6", 550), ("libasan.so.8", 1900)],
)
def test_libraries_against_readelf(name: str, least: int) -> None:
    """Every entry that readelf decodes has its row, and those that cannot be unwound none."""
    path = LIBRARIES / name
    found = ours(path)
    expected = list(readelf_exidx.entries(path))
    assert [start for start, _ in found] == [entry.function for entry in expected]
    kinds: Counter[str] = Counter()
    for (start, row), entry in zip(found, expected):
        if entry.cannot_unwind:
            assert row is None, hex(start)
            kinds["none"] += 1
        elif entry.words:
            assert row == readelf_exidx.row(entry.words), (hex(start), entry.words)
            kinds["decoded"] += 1
        else:
            assert row is not None, hex(start)
            kinds["of a language"] += 1
    print(f"\n{name}: {dict(kinds)}", end="")
    assert kinds["decoded"] + kinds["of a language"] >= least


def build(source: str, mode: str, place: Path) -> Path:
    """A program with both tables."""
    text, program = place / "program.cc", place / "program"
    text.write_text(source)
    options = ["-g", "-O2", "-fno-inline", "-funwind-tables", "-fpermissive", "-w", mode]
    command = [f"{TRIPLE}-g++", *options, str(text), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def calls_in(program: Path) -> list[int]:
    """Addresses of call instructions."""
    said = lines([f"{TRIPLE}-objdump", "-d", "-j", ".text", str(program)])
    pattern = re.compile(r" +([0-9a-f]+):\t[0-9a-f ]+\tblx?\t")
    return [int(match[1], 16) for line in said if (match := pattern.match(line))]


@pytest.mark.parametrize("mode", ["-marm", "-mthumb"])
@pytest.mark.parametrize("source", [C_SOURCE, CPP_SOURCE], ids=["c", "cpp"])
def test_calls_against_debug_frame(source: str, mode: str, tmp_path: Path) -> None:
    """At every call that both tables cover, frame and saved registers are the same."""
    program = build(source, mode, tmp_path)
    table = ours(program)
    starts = [start for start, _ in table]
    compared = of_language = 0
    languages = {
        entry.function
        for entry in readelf_exidx.entries(program)
        if not entry.words and not entry.cannot_unwind
    }
    fdes = native.cfi_rows(str(program), DEBUG)
    for call in calls_in(program):
        place = bisect_right(starts, call) - 1
        fde = next((fde for fde in fdes if fde[0] <= call < fde[1]), None)
        if fde is None or place < 0 or (row := table[place][1]) is None:
            continue
        _, cfa, rules = [one for one in fde[2] if one[0] <= call][-1]
        wanted = {name: rule for name, rule in rules.items() if re.fullmatch(r"r\d+|ra", name)}
        assert row == (cfa, wanted), hex(call)
        compared += 1
        of_language += starts[place] in languages
    print(f"\n{compared} calls, {of_language} of them in functions of a language's own", end="")
    assert compared >= 15
    if source is CPP_SOURCE:
        assert of_language >= 5


@pytest.mark.parametrize("mode", ["-marm", "-mthumb"])
def test_found_by_the_program_header_alone(mode: str, tmp_path: Path) -> None:
    """A program whose section headers are gone has its table all the same."""
    program = build(CPP_SOURCE, mode, tmp_path)
    bare = tmp_path / "bare"
    image = bytearray(program.read_bytes())
    image[0x20:0x24] = bytes(4)  # e_shoff
    image[0x30:0x34] = bytes(4)  # e_shnum, e_shstrndx
    bare.write_bytes(image)
    assert ours(bare) == ours(program)
    assert len(ours(bare)) > 5
