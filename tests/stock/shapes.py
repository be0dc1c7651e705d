"""The two shapes no stock program has: a thousand threads of exactly known depth, and a hundred
thousand frames.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import Tool, compilers, kept, sources

from stock.arrival import byte_written
from stock.build import Build, build
from stock.gcore import GcoreFailedError, gcore
from stock.program import StockProgram

OWN_FRAMES = 20
"""Frames of many.c's own functions on each of its threads."""


HERE = Path(__file__).parent


@dataclass(frozen=True)
class ManyThreadsCore:
    """Each thread but the main one is `own_frames` functions of the program deep, between libc's
    pause and its start.

    The true chain, innermost first: pause, innermost, odd_level and even_level by turns (odd first,
    18 in all), thread_main, and glibc's start_thread and clone3.
    """

    core: Path
    build: Build
    threads: int
    own_frames: int = OWN_FRAMES


@dataclass(frozen=True)
class DeepCore:
    """One thread died of SIGABRT under `depth` levels of its own: wide_level and narrow_level by
    turns, wide outermost.

    Around them: glibc's abort and what it calls, then innermost, inside; thread_main, start_thread
    and clone3 outside.
    """

    core: Path
    build: Build
    depth: int


def many_threads_core(directory: Path, threads: int) -> ManyThreadsCore:
    """Dump a program with `threads` threads beside its main one."""
    made = build("many", directory)

    program = StockProgram(
        "many", (str(made.stripped), str(threads)), byte_written(), OWN_FRAMES, threads + 1
    )
    with program.running(directory / "many.work") as pid:
        return ManyThreadsCore(gcore(pid, directory / "many.core"), made, threads)


def deep_core(directory: Path, depth: int) -> DeepCore:
    """The core of a program that aborts `depth` levels deep.

    gdb runs it and writes the core where the signal stops it: the kernel's core_pattern and the
    limit on core files do not matter, and the core still names the signal.
    """
    made = build("deep", directory)
    core = directory / "deep.core"
    steps = (
        "set pagination off",
        "set debuginfod enabled off",
        f"run {depth}",
        f"generate-core-file {core}",
        "kill",
    )
    command = ["gdb", "-nx", "-q", "-batch", "-readnever"]
    for step in steps:
        command += ["-ex", step]
    finished = subprocess.run(
        [*command, str(made.stripped)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if not core.exists():
        raise GcoreFailedError(f"deep {depth}: no core\n{finished.stdout}{finished.stderr}")
    return DeepCore(core, made, depth)


def _recipe(shape: str, size: int) -> tuple[object, ...]:
    return shape, size, sources(HERE), compilers("gcc"), Tool("gdb")


def kept_many_threads_core(threads: int) -> ManyThreadsCore:
    """The same, made once on a machine."""
    return kept(_recipe("many", threads), lambda place: many_threads_core(place, threads))


def kept_deep_core(depth: int) -> DeepCore:
    """The same, made once on a machine."""
    return kept(_recipe("deep", depth), lambda place: deep_core(place, depth))
