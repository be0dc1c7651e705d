"""What was reached for each compiler; it only rises."""

from __future__ import annotations

from dataclasses import dataclass

from compilers.found import Compiler
from compilers.measure import Result


@dataclass(frozen=True)
class Floor:
    """Of the whole campaign."""

    names: int
    recall: float = 0
    precision: float = 0
    calls: float = 0
    instructions: float = 0


MOST_WRONG = 0.01
"""Of the names by messages."""

FLOORS: dict[str, Floor] = {}


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
