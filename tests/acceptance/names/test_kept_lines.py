"""Lines that were asked for before are told without reading the debug info again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from oracles import nm_table

SOURCE = """
#define INLINED static inline __attribute__((always_inline))
#line {line} "{name}"
INLINED int inner(int x) {{ __asm__ volatile("nop"); return x; }}
int outer(int x) {{ return inner(x) + 1; }}
int main(int count, char **words) {{ return outer(count); }}
"""
ASK = """
import json, sys
from pathlib import Path
from whocall import Search
from whocall.base.native_module import native
search = native.FileSearch()
search.debug_directories = [sys.argv[2]]
names = native.FileNames(sys.argv[1], search)
lines = names.describe(int(sys.argv[3])).lines
print(json.dumps([lines, "whocall_dw" in Path("/proc/self/maps").read_text()]))
"""
BUILD_ID = "1234567890abcdef"


class Told(NamedTuple):
    """What a process of its own says."""

    lines: list[tuple[str, str, int]]
    read: bool  # the reader of debug info was loaded


class Made(NamedTuple):
    """A stripped program and what is kept of it."""

    make_debug_file: Callable[[int], None]  # for a source that begins at a line
    ask: Callable[[], Told]
    kept: Callable[[], Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A program that finds its debug info by build id."""
    program, debug, cache = tmp_path / "program", tmp_path / "debug", tmp_path / "cache"
    found_at = debug / ".build-id" / BUILD_ID[:2] / f"{BUILD_ID[2:]}.debug"
    found_at.parent.mkdir(parents=True)
    cache.mkdir()
    pad = tmp_path / "pad"
    pad.write_bytes(bytes(1 << 18))  # of small files nothing is kept

    def compiled(line: int) -> Path:
        source, twin = tmp_path / "source.c", tmp_path / "twin"
        source.write_text(SOURCE.format(line=line, name="shown.c"), encoding="ascii")
        flags = ["-g", "-O1", "-gdwarf-4", f"-Wl,--build-id=0x{BUILD_ID}"]
        subprocess.run(["gcc", *flags, "-o", str(twin), str(source)], check=True)
        return twin

    def make_debug_file(line: int) -> None:
        add = f"--add-section=.padding={pad}"
        command = ["objcopy", "--only-keep-debug", add, str(compiled(line)), str(found_at)]
        subprocess.run(command, check=True)

    twin = compiled(1)
    subprocess.run(["strip", "-o", str(program), str(twin)], check=True)
    (outer,) = (each.address for each in nm_table.symbols(twin) if each.name == "outer")

    def ask() -> Told:
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[3] / "gdbext")
        command = [sys.executable, "-c", ASK, str(program), str(debug), str(outer)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        lines, read = json.loads(done.stdout)
        return Told([(function, Path(file).name, line) for function, file, line in lines], read)

    def kept() -> Path:
        (only,) = (cache / "whocall" / "facts").glob("*-lines.facts")
        return only

    return Made(make_debug_file, ask, kept)


FIRST = [("inner", "shown.c", 1), ("outer", "shown.c", 2)]
LATER = [("inner", "shown.c", 101), ("outer", "shown.c", 102)]


def test_the_second_process_reads_no_debug_info(made: Made) -> None:
    made.make_debug_file(1)
    assert made.ask() == Told(FIRST, read=True)
    assert made.ask() == Told(FIRST, read=False)


def test_another_debug_file_is_read(made: Made) -> None:
    made.make_debug_file(1)
    assert made.ask() == Told(FIRST, read=True)
    made.make_debug_file(101)
    assert made.ask() == Told(LATER, read=True)


@pytest.mark.parametrize("damage", ["changed", "cut", "empty", "folder"])
def test_damaged_answers_are_none(made: Made, damage: str) -> None:
    made.make_debug_file(1)
    made.ask()
    kept = made.kept()
    contents = bytearray(kept.read_bytes())
    if damage == "changed":
        contents[-1] ^= 1
    kept.unlink()
    if damage == "folder":
        kept.mkdir()
    else:
        kept.write_bytes({"changed": contents, "cut": contents[:-3], "empty": b""}[damage])
        kept.chmod(0o600)
    assert made.ask() == Told(FIRST, read=True)
