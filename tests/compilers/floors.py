"""What was reached for each compiler; it only rises."""

from __future__ import annotations

from dataclasses import dataclass

from compilers.found import Compiler
from compilers.measure import Result


@dataclass(frozen=True)
class Floor:
    """Of the whole campaign."""

    names: int
    recall: float
    precision: float
    calls: float
    instructions: float


MOST_WRONG = 0.01
"""Of the names by messages."""

FLOORS = {
    "gcc-12": Floor(2357, 99.1, 99.9, 99.9, 99.8),
    "gcc-13": Floor(2357, 99.1, 99.8, 99.9, 99.8),
    "gcc-14": Floor(2405, 99.1, 99.8, 99.9, 99.8),
    "gcc-15": Floor(2357, 99.2, 99.9, 99.9, 99.8),
    "gcc-16": Floor(2357, 99.1, 99.9, 99.9, 99.8),
    "clang-14": Floor(2397, 99.3, 99.9, 99.9, 99.8),
    "clang-15": Floor(2397, 99.3, 99.9, 99.9, 99.8),
    "clang-16": Floor(2397, 99.3, 99.9, 99.9, 99.8),
    "clang-17": Floor(2397, 99.3, 99.9, 99.9, 99.8),
    "clang-18": Floor(2397, 99.3, 99.9, 99.9, 99.8),
    "clang-19": Floor(2397, 99.4, 99.9, 99.9, 99.8),
    "clang-21": Floor(2342, 99.4, 99.9, 99.9, 99.8),
}
"""A hundredth of the names and a tenth of a percent below what was measured."""


def missed(compiler: Compiler, total: Result) -> list[str]:
    """The words for what lies below; a compiler that nobody measured has no floors but one."""
    below = []
    if len(total.wrong) > MOST_WRONG * total.names:
        below.append(f"{len(total.wrong)} wrong names")
    floor = FLOORS.get(compiler.name)
    if floor is not None:
        if total.names < floor.names:
            below.append(f"names: {floor.names}")
        for name in ("recall", "precision", "calls", "instructions"):
            if getattr(total, name).percent < getattr(floor, name):
                below.append(f"{name}: {getattr(floor, name)}")
    return below
