"""How well buckets match bugs, by pairs of cores.

Precision: of the pairs that are in one bucket, those that are one bug. Recall: of the pairs that
are one bug, those that are in one bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple


class Score(NamedTuple):
    """Shares from 0 to 1."""

    precision: float
    recall: float
    buckets: int

    def __str__(self) -> str:
        return f"{self.precision:8.2%} {self.recall:8.2%} {self.buckets:8d}"


def score(bugs: Mapping[str, str], buckets: Mapping[str, Hashable]) -> Score:
    """Of the cores in `bugs`; one that is in no bucket is alone."""
    placed = {core: buckets.get(core, ("alone", core)) for core in bugs}
    both = _pairs((bugs[core], placed[core]) for core in bugs)
    together = _pairs(placed.values())
    return Score(
        both / together if together else 1.0,
        both / (_pairs(bugs.values()) or 1),
        len(set(placed.values())),
    )


def _pairs(values: Iterable[Hashable]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(values).values())
