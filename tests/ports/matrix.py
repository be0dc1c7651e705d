"""Which programs, and in which builds.

A small part of the product: each pair of choices occurs in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path

from corpus import catalog
from corpus.catalog import Program

from ports.sets import InstructionSet

OWN = Path(__file__).parent / "programs"
ALL_BUILDS = 2
"""Of each program, for each set, with and without tables."""

BORROWED = (
    "chain",
    "abort",
    "null_call",
    "wild_call",
    "recursion_small_stack",
    "threads",
    "signal_altstack",
    "signal_timer",
    "signal_nested",
    "exception_in_catch",
    "virtual_calls",
    "qsort_callback",
    "alloca_vla",
    "big_frame",
    "libc_strlen",
    "tail_call",
)


def _borrowed(name: str) -> Program:
    return next(program for program in catalog.PROGRAMS if program.name == name)


def _own(
    name: str, source: str, *defines: str, unrecorded: frozenset[str] = frozenset()
) -> Program:
    return Program(name, str(OWN / source), defines=defines, unrecorded=unrecorded)


PROGRAMS = (
    *map(_borrowed, BORROWED),
    *(_own(f"overwritten_{size}", "overwritten.c", f"SIZE={size}") for size in (64, 128, 200)),
    _own("return_smashed", "return_smashed.c", unrecorded=frozenset({"overrun"})),
)


@dataclass(frozen=True)
class Variant:
    """One way to build a program."""

    compiler: str
    optimisation: str
    frame_pointer: bool
    link: str
    extra: bool
    """Whether with the set's special flags."""

    @property
    def name(self) -> str:
        """Readable and unique."""
        pointer = "fp" if self.frame_pointer else "nofp"
        parts = [self.compiler, self.optimisation, pointer, self.link]
        return "-".join(parts + ["extra"] * self.extra)


def _pairs(variant: Variant) -> set[tuple[tuple[int, object], ...]]:
    return set(combinations(enumerate(astuple(variant)), 2))


@cache
def covering_variants(has_extra: bool) -> tuple[Variant, ...]:
    """A set of variants in which each pair of choices occurs; always the same one."""
    choices = product(
        ("gcc", "clang"),
        ("O2", "O0", "Os"),
        (False, True),
        ("pie", "static", "no-pie"),
        (False, True) if has_extra else (False,),
    )
    candidates = [Variant(*choice) for choice in choices]
    missing = set().union(*map(_pairs, candidates))
    chosen: list[Variant] = []
    while missing:
        best = max(candidates, key=lambda variant: len(_pairs(variant) & missing))
        chosen.append(best)
        missing -= _pairs(best)
    return tuple(chosen)


def selection(
    one: InstructionSet, tables: bool, builds: int = ALL_BUILDS
) -> Iterator[tuple[Program, Variant]]:
    """The builds of a set: each program takes the variants that follow those of the one before, and
    so many of them.
    """
    variants = covering_variants(bool(one.extra))
    turn = 0
    for program in PROGRAMS:
        if program.throws and not tables:
            continue
        for _ in range(builds):
            yield program, variants[turn % len(variants)]
            turn += 1
