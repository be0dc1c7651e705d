"""What is wanted: which figure is set beside which, and how far they are to be apart.

`floor` is the share of a target that the small form insists on, 0.6 where the target is met; where
it is not met yet, 0.6 of what was reached when it was last looked at. Floors only rise.
"""

from __future__ import annotations

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
        return ratio / self.bound if self.kind is Kind.FASTER else self.bound / ratio


LINES = (
    # Stacks, as whole processes.
    Line("1,001 threads", "crowd/text", "gdb", "crowd/gdb", Kind.FASTER, 12, 0.1),
    Line("1,001 threads", "crowd/text", "lldb", "crowd/lldb", Kind.FASTER, 8),
    Line("1,001 threads", "crowd/text", "eu-stack", "crowd/eu-stack", Kind.FASTER, 100),
    Line("1,001 threads, JSON", "crowd/json", "text", "crowd/text", Kind.WITHIN, 1.5, 0.6),
    Line("1,001 threads, JSON: memory", "crowd/json", "", "", Kind.MEMORY, 150, 0.6),
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
)
