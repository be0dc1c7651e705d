"""The build matrix as data, and the choice of a pairwise covering part of it.

The full product has hundreds of variants.  Faults in unwinding come from pairs of choices far more
often than from triples, so the matrix is a small set in which each pair of choices occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from functools import cache
from itertools import combinations, product

from corpus.catalog import PROGRAMS, Program

COMPILERS = ("gcc", "clang", "musl-gcc")
OPTIMISATIONS = ("O2", "O0", "O1", "O3", "Os")
LINKS = ("pie", "no-pie", "static", "static-pie")
LINK_FLAGS = {
    "pie": (("-fPIE",), ("-pie",)),
    "no-pie": (("-fno-pie",), ("-no-pie",)),
    "static": (("-fno-pie",), ("-static",)),
    "static-pie": (("-fPIE",), ("-static-pie",)),
}
TABLES = ("-fasynchronous-unwind-tables",)
NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
CPP_COMPILERS = {"gcc": "g++", "clang": "clang++"}


@dataclass(frozen=True)
class Variant:
    """One way to build a program."""

    compiler: str
    optimisation: str
    frame_pointer: bool
    link: str
    bits: int = 64
    cf_protection: bool = False
    tables: bool = True
    """Whether the program has unwind tables; without, its twin still has .debug_frame."""

    @property
    def name(self) -> str:
        """Readable and unique: the command line and test ids use it."""
        parts = [
            self.compiler.replace("-gcc", ""),
            self.optimisation,
            "fp" if self.frame_pointer else "nofp",
            self.link,
        ]
        parts += [f"m{self.bits}"] if self.bits != 64 else []
        parts += ["cf"] if self.cf_protection else []
        parts += [] if self.tables else ["notables"]
        return "-".join(parts)

    @property
    def is_static(self) -> bool:
        """Whether no shared library is loaded."""
        return self.link.startswith("static")

    @property
    def needs_steps(self) -> bool:
        """Whether code without CFI runs (all of musl is), so that no debugger's word is enough."""
        return self.compiler == "musl-gcc" or not self.tables

    def driver(self, cpp: bool = False) -> str:
        """The compiler's command."""
        return CPP_COMPILERS[self.compiler] if cpp else self.compiler

    def compile_flags(self) -> list[str]:
        """Flags of compiling and linking alike."""
        return [
            "-g",
            f"-{self.optimisation}",
            f"-m{self.bits}",
            *LINK_FLAGS[self.link][0],
            "-fno-omit-frame-pointer" if self.frame_pointer else "-fomit-frame-pointer",
            "-fcf-protection=full" if self.cf_protection else "-fcf-protection=none",
            *(TABLES if self.tables else NO_TABLES),
        ]

    def link_flags(self) -> list[str]:
        """Flags of linking the executable only."""
        return list(LINK_FLAGS[self.link][1])

    def possible(self) -> bool:
        """Whether the toolchain can do it: musl-gcc is 64-bit only and ignores -static-pie."""
        return self.compiler != "musl-gcc" or (self.bits == 64 and self.link != "static-pie")

    def suits(self, program: Program) -> bool:
        """Whether the program can be built so."""
        if self.compiler == "musl-gcc" and (program.glibc_only or program.is_cpp):
            return False
        if self.is_static and program.library is not None:
            return False
        if not self.tables and program.throws:
            return False
        return program.bits in (None, self.bits) and program.compiler in (None, self.compiler)


def _all_variants() -> Iterator[Variant]:
    for bits, cf, link, pointer, optimisation, compiler in product(
        (64, 32), (False, True), LINKS, (False, True), OPTIMISATIONS, COMPILERS
    ):
        variant = Variant(compiler, optimisation, pointer, link, bits, cf)
        if variant.possible():
            yield variant


def _pairs(variant: Variant) -> set[tuple[tuple[int, object], ...]]:
    return set(combinations(enumerate(astuple(variant)), 2))


@cache
def covering_variants() -> tuple[Variant, ...]:
    """A set of variants in which each possible pair of choices occurs; always the same one."""
    candidates = list(_all_variants())
    missing = set().union(*map(_pairs, candidates))
    chosen: list[Variant] = []
    while missing:
        best = max(candidates, key=lambda variant: len(_pairs(variant) & missing))
        chosen.append(best)
        missing -= _pairs(best)
    return tuple(chosen)


def selection(
    programs: Iterable[Program] = PROGRAMS, tables: bool = True
) -> Iterator[tuple[Program, Variant]]:
    """The pairs of the corpus: each program takes the variants least used so far.

    With `tables` false it is the same corpus without unwind tables, less the programs that throw.
    """
    used: Counter[Variant] = Counter()
    for program in programs:
        variants = (replace(variant, tables=tables) for variant in covering_variants())
        suitable = [variant for variant in variants if variant.suits(program)]
        suitable.sort(key=lambda variant: used[variant])
        for variant in suitable[: program.variants]:
            used[variant] += 1
            yield program, variant
