"""What was measured, and the least of several rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Figure(NamedTuple):
    """A cost, and the peak of memory in MiB of the process that had it."""

    cost: float
    """Seconds of processor time, for a whole process; else what a program says of itself."""
    peak: float


Figures = dict[str, Figure]
Job = Callable[[], Figures]


def merged(one: Mapping[str, Figure], other: Mapping[str, Figure]) -> Figures:
    """The least cost of both, and the greatest peak."""
    both = {**one}
    for name, figure in other.items():
        known = both.get(name, figure)
        both[name] = Figure(min(known.cost, figure.cost), max(known.peak, figure.peak))
    return both


def least(jobs: list[Job], rounds: int) -> Figures:
    """Of all jobs, which take turns: what disturbs the machine for a while disturbs them alike."""
    found: Figures = {}
    for _ in range(rounds):
        for job in jobs:
            found = merged(found, job())
    return found
