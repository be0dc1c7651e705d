"""What is wanted: which figure is set beside which, and how far they are to be apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from bench.figures import Figures

MET = 0.6
"""The floor of what has reached its target."""


class Kind(Enum):
    """What is compared with the bound."""

    FASTER = "times the peer's speed, at least"
    WITHIN = "times the peer's cost, at most"
    MEMORY = "MiB at the peak, at most"
    COST = "of the unit, at most"
    TOLD = "nothing: times the peer's speed are only told"
    TOLD_COST = "nothing: times the peer's cost are only told"


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    what: str
    ours: str
    """The name of our figure."""
    theirs: str
    """The name of the peer's; empty where there is none."""
    kind: Kind
    bound: float = 0.0
    floor: float = 0.0
    """The share of the target below which the small form fails; 0: it does not look."""
    peer: str = ""
    """As people call it."""
    unit: str = "s"

    @property
    def subject(self) -> str:
        """Who measures it."""
        return self.ours.partition("/")[0]

    @property
    def has_target(self) -> bool:
        """Whether anything is wanted."""
        return self.kind not in (Kind.TOLD, Kind.TOLD_COST)

    @property
    def of_cost(self) -> bool:
        """Whether the ratio is that of the costs; else it is that of the speeds."""
        return self.kind in (Kind.WITHIN, Kind.TOLD_COST)

    def ratio(self, found: Figures) -> float:
        """What is compared with the bound."""
        mine = found[self.ours]
        if self.kind is Kind.MEMORY:
            return mine.peak
        if self.kind is Kind.COST:
            return mine.cost
        theirs = found[self.theirs]
        if self.of_cost:
            return mine.cost / theirs.cost
        return theirs.cost / mine.cost

    def share(self, found: Figures) -> float:
        """How much of the target is reached; 1 and above: it is met."""
        ratio = self.ratio(found)
        if self.kind is Kind.FASTER:
            return ratio / self.bound
        return self.bound / ratio if ratio > 0 else math.inf


def faster(
    what: str, ours: str, theirs: str, bound: float, floor: float = 0.0, peer: str = ""
) -> Line:
    """`bound` times as fast as the peer, at least."""
    return Line(what, ours, theirs, Kind.FASTER, bound, floor, peer)


def within(
    what: str, ours: str, theirs: str, bound: float, floor: float = 0.0, peer: str = ""
) -> Line:
    """`bound` times the peer's cost, at most."""
    return Line(what, ours, theirs, Kind.WITHIN, bound, floor, peer)


def memory(what: str, ours: str, bound: float, floor: float = 0.0) -> Line:
    """So many MiB at the peak, at most."""
    return Line(what, ours, "", Kind.MEMORY, bound, floor)


def cost(what: str, ours: str, bound: float) -> Line:
    """So much at most; no floor, as it hangs on the machine."""
    return Line(what, ours, "", Kind.COST, bound)


def told(what: str, ours: str, theirs: str = "", peer: str = "") -> Line:
    """Nothing is wanted; the ratio is that of `faster`."""
    return Line(what, ours, theirs, Kind.TOLD, peer=peer)


def told_cost(what: str, ours: str, theirs: str, peer: str = "") -> Line:
    """Nothing is wanted; the ratio is that of `within`, as of the lines around it."""
    return Line(what, ours, theirs, Kind.TOLD_COST, peer=peer)


def _of(subject: str, *lines: Line, unit: str = "s") -> Iterator[Line]:
    """Lines that name the subject's figures without its own name."""
    for line in lines:
        theirs = f"{subject}/{line.theirs}" if line.theirs else ""
        peer = line.peer or line.theirs
        yield replace(line, ours=f"{subject}/{line.ours}", theirs=theirs, peer=peer, unit=unit)


BT = "thread apply all bt"
CROWD, DEEP = "1,001 threads", "100,000 frames"
TABLES, POINTERS = "warm_walk_by_tables", "warm_walk_by_frame_pointers"
STEP = "libunwind_steps"
MILLION = "1,000,000 symbols"
BOUND = "upper_bound_over_structs"

# The last number of a line is its floor. Where the target is met, it is MET; where it is not met
# yet, MET times the share that was reached when the floor was last raised. Floors only rise.
LINES = (
    *_of(
        "crowd",
        faster(CROWD, "text", "gdb", 12, MET),
        faster(CROWD, "text", "lldb", 8),
        faster(CROWD, "text", "eu-stack", 100),
        faster(f"{CROWD}, arguments", "with arguments", "gdb", 8, MET),
        within(f"{CROWD}, arguments", "with arguments", "text", 1.6, MET),
        within(f"{CROWD}, JSON", "json", "with arguments", 1.5, MET),
        memory(f"{CROWD}, JSON: memory", "json", 150, MET),
    ),
    *_of(
        "in-gdb",
        faster(f"{CROWD} in gdb, first time", "text first", "gdb first", 15, MET, BT),
        faster(f"{CROWD} in gdb, second time", "text second", "gdb second", 30, MET, BT),
        faster(f"{CROWD} in gdb, arguments", "arguments second", "gdb second", 8, MET, BT),
        within(f"{CROWD} in gdb, JSON", "json second", "arguments second", 1.5, 0, "text"),
    ),
    *_of(
        "deep",
        faster(DEEP, "text", "gdb", 20, MET),
        faster(DEEP, "text", "lldb", 10),
        within(f"{DEEP}, JSON", "json", "text", 1.5, MET),
        memory(f"{DEEP}, JSON: memory", "json", 150, MET),
    ),
    *_of(
        "clang",
        within("clang, its files never seen", "unseen", "eu-stack", 3),
        told_cost("clang, its files never seen", "unseen", "eu-stack -is"),
        within("clang, its files seen", "seen", "eu-stack", 1),
        told("clang, its files seen", "seen", "gdb"),
        told("clang, its files seen", "seen", "lldb"),
    ),
    *_of(
        "perl",
        within("perl, lines and inlined calls", "text", "eu-stack -is", 2, MET),
    ),
    *_of(
        "small",
        within("a small core", "text", "python", 4, MET, "python3 -c ''"),
        told("a small core", "text", "gdb"),
        told("a small core", "text", "eu-stack"),
    ),
    *_of(
        "walk",
        within("warm walk by tables", TABLES, "load_from_l2", 7.5, MET, "load from L2"),
        within("warm walk by frame pointers", POINTERS, "load_from_l2", 5, MET, "load from L2"),
        faster("warm walk by tables", TABLES, STEP, 3, MET, "unw_step"),
        faster("warm walk by frame pointers", POINTERS, STEP, 3, MET, "unw_step"),
        told("warm walk by tables", TABLES, "libunwind_backtrace", "unw_backtrace"),
        unit="ns",
    ),
    *_of(
        "api",
        cost("a frame as an object", "objects", 2),
        cost("a frame as a tuple", "tuples", 0.7),
        told("a frame as a tuple of three", "tuples of 3"),
        unit="us",
    ),
    *_of(
        "functions",
        faster(f"functions, {MILLION}", "text", "nm", 1, MET, "nm -n"),
        told(f"functions, {MILLION}", "text", "nm -p"),
        told(f"functions, {MILLION}", "text", "eu-nm", "eu-nm -n"),
        memory(f"functions, {MILLION}: memory", "text", 200, MET),
        within(f"functions, {MILLION}, JSON", "json", "text", 2, MET),
    ),
    *_of(
        "addresses",
        told(f"20,000 addresses, {MILLION}", "whocall", "llvm-symbolizer"),
    ),
    *_of(
        "tables",
        faster("symbol table, 100,000 symbols", "elf 100k", "bfd 100k", 7, MET, "libbfd"),
        faster(f"symbol table, {MILLION}", "elf 1M", "bfd 1M", 7, 0, "libbfd"),
        unit="ns",
    ),
    *_of(
        "tables",
        within("symbol table, 100,000 symbols: memory", "elf 100k:MiB", "bfd 100k:MiB",
               0.25, MET, "libbfd"),
        within(f"symbol table, {MILLION}: memory", "elf 1M:MiB", "bfd 1M:MiB", 0.25, 0, "libbfd"),
        unit="MiB",
    ),
    *_of(
        "look-ups",
        *(
            faster(f"look-up, batched, {size:,}", f"table_batched/{size}", f"{BOUND}/{size}",
                   20, MET, "std::upper_bound")
            for size in (100_000, 1_000_000)
        ),
        within("look-up, dependent, 1,000,000", "table_dependent/1000000",
               "two_dependent_loads/1000000", 1.5, MET, "two loads"),
        unit="ns",
    ),
    *_of(
        "orders",
        within("symbols in order", "elf sorted", "elf random", 3, MET, "at random"),
        within("symbols in reverse order", "elf reversed", "elf random", 3, MET, "at random"),
        within("symbols as a sawtooth", "elf sawtooth", "elf random", 3, MET, "at random"),
        within("symbols at one address", "elf equal", "elf random", 3, MET, "at random"),
        unit="ns",
    ),
    *_of(
        "repair",
        cost("repair, its files kept: own share", "own", 0.15),
        told("repair, its files kept", "whole", "reading", "gdb reads them"),
        told("repair, its files made", "made", "reading", "gdb reads them"),
    ),
    *_of(
        "known",
        told("second walk in one process", "again", "first", "the first"),
        told("second walk in a new process", "anew", "first", "the first"),
    ),
)  # fmt: skip
