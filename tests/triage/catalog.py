"""Forty bugs in eight programs, and the builds that crash with each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
JOBS = 5
"""Bugs of each program: the jobs of these numbers."""
NAMES = ("ledger", "imgtool", "netd", "mathvm", "archive", "shapes", "textidx", "planner")


@dataclass(frozen=True)
class Build:
    """A compiler, its flags, and which state of the sources it compiled."""

    c: str
    cxx: str
    flags: tuple[str, ...]
    version: int

    @property
    def word(self) -> str:
        return "-".join([self.c, *(flag.lstrip("-") for flag in self.flags), f"v{self.version}"])


def _build(c: str, flags: str, version: int = 1) -> Build:
    pairs = {"gcc": "g++", "clang": "clang++"}
    return Build(c, pairs[c], tuple(flags.split()), version)


BUILDS = (
    _build("gcc", "-O0"),
    _build("gcc", "-O1"),
    _build("gcc", "-O2"),
    _build("gcc", "-O2", 2),
    _build("gcc", "-Os", 2),
    _build("gcc", "-O3 -fomit-frame-pointer"),
    _build("clang", "-O0"),
    _build("clang", "-O1", 2),
    _build("clang", "-O2"),
    _build("clang", "-Os"),
)
"""Rebuilds: compilers, levels, and sources to which something was added."""


@dataclass(frozen=True)
class Bug:
    """A job of a program."""

    program: str
    job: int

    def __str__(self) -> str:
        return f"{self.program}/{self.job}"


def bugs() -> Iterator[Bug]:
    """All forty."""
    for program in NAMES:
        for job in range(JOBS):
            yield Bug(program, job)
