"""What is wanted: which figure is set beside which, and how far they are to be apart.

`floor` is the share of a target that the small form insists on, 0.6 where the target is met; where
it is not met yet, 0.6 of what was reached when it was last looked at. Floors only rise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from bench.figures import Figures

MET = 0.6


class Kind(Enum):
    """What is compared, and with what."""

    FASTER = "times the peer's speed, at least"
    WITHIN = "times the peer's cost, at most"
    MEMORY = "MiB at the peak, at most"
    COST = "of the unit, at most"
    TOLD = "is only told"


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    what: str
    ours: str
    """The name of our figure."""
    peer: str
    """As the table has it."""
    theirs: str
    """The name of the peer's figure."""
    kind: Kind
    bound: float = 0.0
    floor: float = 0.0
    """0: the small form has nothing to say about it."""
    unit: str = "s"

    @property
    def subject(self) -> str:
        """Who measures it."""
        return self.ours.partition("/")[0]

    def ratio(self, found: Figures) -> float:
        """What is compared with the bound."""
        mine = found[self.ours]
        if self.kind is Kind.MEMORY:
            return mine.peak
        if self.kind is Kind.COST:
            return mine.cost
        theirs = found[self.theirs]
        if self.kind is Kind.WITHIN:
            return mine.cost / theirs.cost
        return theirs.cost / mine.cost

    def share(self, found: Figures) -> float:
        """How much of the target is reached; 1 and above: it is met."""
        ratio = self.ratio(found)
        if self.kind is Kind.FASTER:
            return ratio / self.bound
        return self.bound / ratio if ratio > 0 else math.inf


LINES = (
    # Stacks, as whole processes.
    Line("1,001 threads", "crowd/text", "gdb", "crowd/gdb", Kind.FASTER, 12, 0.24),
    Line("1,001 threads", "crowd/text", "lldb", "crowd/lldb", Kind.FASTER, 8),
    Line("1,001 threads", "crowd/text", "eu-stack", "crowd/eu-stack", Kind.FASTER, 100),
    Line("1,001 threads, JSON", "crowd/json", "text", "crowd/text", Kind.WITHIN, 1.5, 0.6),
    Line("1,001 threads, JSON: memory", "crowd/json", "", "", Kind.MEMORY, 150, 0.6),
    Line("in gdb, the first time", "in-gdb/text first", "gdb", "in-gdb/gdb first", Kind.FASTER, 15),
    Line("in gdb, the second", "in-gdb/text second", "gdb", "in-gdb/gdb second", Kind.FASTER, 30),
    Line("in gdb, JSON", "in-gdb/json second", "text", "in-gdb/text second", Kind.WITHIN, 1.5),
    Line("100,000 frames", "deep/text", "gdb", "deep/gdb", Kind.FASTER, 20, 0.1),
    Line("100,000 frames", "deep/text", "lldb", "deep/lldb", Kind.FASTER, 10),
    Line("100,000 frames, JSON", "deep/json", "text", "deep/text", Kind.WITHIN, 1.5, 0.6),
    Line("100,000 frames, JSON: memory", "deep/json", "", "", Kind.MEMORY, 150, 0.6),
    Line("clang, file never seen", "clang/unseen", "eu-stack", "clang/eu-stack", Kind.WITHIN, 3),
    Line("clang, file seen", "clang/seen", "eu-stack", "clang/eu-stack", Kind.WITHIN, 1),
    Line("clang, file seen", "clang/seen", "gdb", "clang/gdb", Kind.TOLD),
    Line("clang, file seen", "clang/seen", "lldb", "clang/lldb", Kind.TOLD),
    Line("a small core", "small/text", "python3 -c ''", "small/python", Kind.WITHIN, 4, 0.5),
    Line("a small core", "small/text", "gdb", "small/gdb", Kind.TOLD),
    # A warm walk, of a frame.
    Line(
        "walk by tables",
        "walk/warm_walk_by_tables",
        "load from L2",
        "walk/load_from_l2",
        Kind.WITHIN,
        7.5,
        0.1,
        "ns",
    ),
    Line(
        "walk by frame pointers",
        "walk/warm_walk_by_frame_pointers",
        "load from L2",
        "walk/load_from_l2",
        Kind.WITHIN,
        5,
        0.1,
        "ns",
    ),
    Line(
        "walk by tables",
        "walk/warm_walk_by_tables",
        "libunwind, unw_step",
        "walk/libunwind_steps",
        Kind.FASTER,
        3,
        0.6,
        "ns",
    ),
    Line(
        "walk by frame pointers",
        "walk/warm_walk_by_frame_pointers",
        "libunwind, unw_step",
        "walk/libunwind_steps",
        Kind.FASTER,
        3,
        0.6,
        "ns",
    ),
    Line(
        "walk by tables",
        "walk/warm_walk_by_tables",
        "libunwind, unw_backtrace",
        "walk/libunwind_backtrace",
        Kind.TOLD,
        unit="ns",
    ),
    Line("frames as Python objects", "api/objects", "", "", Kind.COST, 2, 0, "us"),
    Line("frames as tuples", "api/tuples", "", "", Kind.COST, 0.7, 0, "us"),
    Line("frames as tuples of three", "api/tuples of 3", "", "", Kind.TOLD, 0, 0, "us"),
    # Symbols.
    Line(
        "functions of 1,000,000 symbols",
        "functions/text",
        "nm -n",
        "functions/nm",
        Kind.FASTER,
        1,
        0.6,
    ),
    Line(
        "functions of 1,000,000 symbols", "functions/text", "eu-nm -n", "functions/eu-nm", Kind.TOLD
    ),
    Line("functions of 1,000,000 symbols", "functions/text", "nm -p", "functions/nm -p", Kind.TOLD),
    Line("functions of 1,000,000 symbols: memory", "functions/text", "", "", Kind.MEMORY, 200, 0.6),
    Line(
        "functions of 1,000,000 symbols, JSON",
        "functions/json",
        "text",
        "functions/text",
        Kind.WITHIN,
        2,
        0.6,
    ),
    Line(
        "symbol table of 100,000",
        "tables/elf 100k",
        "libbfd",
        "tables/bfd 100k",
        Kind.FASTER,
        7,
        0.6,
        "ns",
    ),
    Line(
        "symbol table of 1,000,000",
        "tables/elf 1M",
        "libbfd",
        "tables/bfd 1M",
        Kind.FASTER,
        7,
        0,
        "ns",
    ),
    Line(
        "symbol table of 100,000: memory",
        "tables/elf 100k:MiB",
        "libbfd",
        "tables/bfd 100k:MiB",
        Kind.WITHIN,
        0.25,
        0.6,
        "MiB",
    ),
    Line(
        "symbol table of 1,000,000: memory",
        "tables/elf 1M:MiB",
        "libbfd",
        "tables/bfd 1M:MiB",
        Kind.WITHIN,
        0.25,
        0,
        "MiB",
    ),
    Line(
        "look-ups, batched, 100,000",
        "look-ups/table_batched/100000",
        "std::upper_bound",
        "look-ups/upper_bound_over_structs/100000",
        Kind.FASTER,
        20,
        0.3,
        "ns",
    ),
    Line(
        "look-ups, batched, 1,000,000",
        "look-ups/table_batched/1000000",
        "std::upper_bound",
        "look-ups/upper_bound_over_structs/1000000",
        Kind.FASTER,
        20,
        0.3,
        "ns",
    ),
    Line(
        "look-ups, dependent, 1,000,000",
        "look-ups/table_dependent/1000000",
        "two loads",
        "look-ups/two_dependent_loads/1000000",
        Kind.WITHIN,
        1.5,
        0.3,
        "ns",
    ),
    *(
        Line(
            f"symbols in {order} order",
            f"orders/elf {order}",
            "random",
            "orders/elf random",
            Kind.WITHIN,
            3,
            0.6,
            "ns",
        )
        for order in ("sorted", "reversed", "sawtooth", "equal")
    ),
    Line("repair, files kept: own share", "repair/own", "", "", Kind.COST, 0.15),
    Line("repair, files kept", "repair/whole", "gdb reads them", "repair/reading", Kind.TOLD),
    Line("repair, files made", "repair/made", "gdb reads them", "repair/reading", Kind.TOLD),
    Line("second walk, in one process", "known/again", "first", "known/first", Kind.TOLD),
    Line("second walk, in a new process", "known/anew", "first", "known/first", Kind.TOLD),
)
