"""Cores of programs that die, wherever that is: the kernel's, or else those of dumper.c."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from artifact_cache import compilers, kept
from places.needs import KERNEL_CORES, refusal

from corpus.build import run

PARTS = ("mappings", "notes", "tracee", "writer")  # of what writes a core
WRITER = [Path(__file__).with_name(f"{name}.c") for name in PARTS]
HEADERS = [source.with_suffix(".h") for source in WRITER]
SOURCES = [Path(__file__).with_name("dumper.c"), *WRITER]
COMMAND = ("gcc", "-O2", "-w", "-static")


@cache
def compiled_dumper() -> Path:
    """The program, built once on a machine. It is static, so that no LD_PRELOAD concerns it."""

    def compile_in(place: Path) -> Path:
        program = place / "dumper"
        run([*COMMAND, *map(str, SOURCES), "-o", str(program)], place)
        return program

    return kept(("dumper", COMMAND, SOURCES, HEADERS, compilers("gcc")), compile_in)


def kernel_writes_cores() -> bool:
    """Beside the program that dies, named `core` and perhaps more."""
    return refusal(KERNEL_CORES) is None


def leaving_core(command: Sequence[str | Path]) -> list[str]:
    """The command, as it is started where its core is wanted, after `places.needs.allow_cores`."""
    words = [str(word) for word in command]
    return words if kernel_writes_cores() else [str(compiled_dumper()), "core", *words]
