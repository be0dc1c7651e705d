"""The cores and programs that are damaged, of many kinds: built once, and kept."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from acceptance.helpers.rust_programs import build as build_rust
from acceptance.runtimes.goruns import GoToolchain
from corpus.build import compile_program
from corpus.catalog import PROGRAMS, Program
from corpus.crash import crash
from corpus.variants import Variant
from damaged_stacks.catalog import damage_cases
from damaged_stacks.missing import DUMP_FILES
from stock.runtimes import runtimes

ROOM = {f"ROOM{number}": "x" * 100_000 for number in range(5)}
"""Variables above a program's first frame: half a megabyte of stack that may be damaged."""

_CORPUS = {program.name: program for program in PROGRAMS}
_DAMAGE = {case.program.name: case.program for case in damage_cases()}


@dataclass(frozen=True)
class Original:
    """An undamaged core, and the program that it came from where that is at hand."""

    name: str
    core: Path
    program: Path | None


Make = Callable[[Path], "tuple[Path, Path | None]"]
"""Makes core and program somewhere below a folder."""


def _compiled(program: Program, variant: Variant, dumped: int | None = None) -> Make:
    def make(place: Path) -> tuple[Path, Path]:
        binaries = compile_program(program, variant, place)
        found = crash(binaries.exe, place, program.stack_limit, dumped=dumped, variables=ROOM)
        return found.core, binaries.exe

    return make


def _c(name: str, compiler: str, level: int, pointer: bool, link: str = "pie", bits: int = 64,
       tables: bool = True) -> Make:  # fmt: skip
    variant = Variant(compiler, f"O{level}", pointer, link, bits, tables=tables)
    return _compiled(_CORPUS.get(name) or _DAMAGE[name], variant)


def _shallow(name: str, pointer: bool, bits: int = 64) -> Make:
    """A recursion that ends at a stack of 3 MiB: the kernel gives a quarter to variables."""
    program = replace(_CORPUS[name], stack_limit=3 << 20)
    return _compiled(program, Variant("gcc", "O2", pointer, "pie", bits, tables=False))


def _without_program(place: Path) -> tuple[Path, None]:
    variant = Variant("gcc", "O2", False, "pie", tables=False)
    core, program = _compiled(_CORPUS["chain"], variant, DUMP_FILES)(place)
    assert program is not None
    program.unlink()
    return core, None


def _go(program: str, way: str, *flags: str) -> Make:
    def make(place: Path) -> tuple[Path, Path]:
        tools = GoToolchain(place)
        exe = tools.build(program, "program", *flags)
        return tools.crash(exe, way).core, exe

    return make


def _rust(place: Path) -> tuple[Path, Path]:
    twin = build_rust(place, "v0", "unwind")
    exe = place / "program"
    subprocess.run(["strip", "-o", str(exe), str(twin)], check=True)
    return crash(exe, place, variables=ROOM).core, exe


def _runtime(name: str) -> Make:
    (program,) = (each for each in runtimes() if each.name == name)

    def make(place: Path) -> tuple[Path, Path]:
        dumped = program.dump(place)
        return dumped.core, dumped.exe

    return make


ORIGINALS: dict[str, tuple[int, Make]] = {
    "c": (6, _c("chain", "gcc", 2, False)),
    "c-bare": (8, _c("chain", "clang", 2, False, tables=False)),
    "c-pointer": (6, _c("qsort_callback", "gcc", 1, True, "no-pie", tables=False)),
    "c-static": (4, _c("abort", "gcc", 2, False, "static")),
    "c-static-pie": (5, _c("registers", "gcc", 2, False, "static-pie", tables=False)),
    "c-musl": (4, _c("varargs", "musl-gcc", 2, False, tables=False)),
    "c-signal": (5, _c("signal_altstack", "gcc", 2, False)),
    "c-coroutine": (3, _c("user_context", "gcc", 2, False, tables=False)),
    "c-threads": (4, _c("threads", "clang", 2, True)),
    "c-library": (3, _c("shared_library", "gcc", 2, False)),
    "c-deep": (5, _shallow("recursion", False)),
    "c-deep-pointer": (3, _shallow("recursion", True)),
    "c-no-program": (4, _without_program),
    "i386": (5, _c("chain", "gcc", 2, False, bits=32, tables=False)),
    "i386-pointer": (3, _c("i386_conventions", "clang", 1, True, bits=32, tables=False)),
    "i386-static": (3, _c("chain", "clang", 2, False, "static", 32)),
    "cpp": (5, _c("exception_uncaught", "gcc", 2, False)),
    "cpp-catch": (3, _c("exception_in_catch", "clang", 2, True)),
    "rust": (4, _rust),
    "go": (4, _go("crashes", "nil", "-ldflags=-s -w")),
    "go-deep": (5, _go("deep", "", "-ldflags=-s -w")),
    "go-from-c": (4, _go("callbacks", "segv", "-ldflags=-s -w")),
    "jit": (3, _c("jit_no_fp", "gcc", 2, False, tables=False)),
    "jit-pointer": (3, _c("jit_fp", "gcc", 2, True, tables=False)),
    "luajit": (3, _runtime("luajit")),
    "sbcl": (1, _runtime("sbcl")),
    "java": (1, _runtime("java")),
}
"""How often each is taken, relative to the others; and how it is made."""


@contextmanager
def _same_addresses() -> Iterator[None]:
    """Without address space randomization, so that cores of two machines differ little."""
    no_randomization = 0x0040000
    personality = ctypes.CDLL(None).personality
    before = personality(0xFFFFFFFF)
    personality(before | no_randomization)
    try:
        yield
    finally:
        personality(before)


def _build(name: str, directory: Path) -> None:
    place = directory / name
    shutil.rmtree(place, ignore_errors=True)
    work = place / "work"
    work.mkdir(parents=True)
    with _same_addresses():
        core, program = ORIGINALS[name][1](work)
    core.rename(place / "core")
    if program is not None:
        shutil.copy(program, place / "program")
    (place / "made").touch()


def original(name: str, directory: Path) -> Original:
    """From the folder, built there first if it is missing."""
    place = (directory / name).resolve()
    if not (place / "made").exists():
        _build(name, directory.resolve())
    program = place / "program"
    return Original(name, place / "core", program if program.exists() else None)
