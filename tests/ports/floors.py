"""What each set must reach: recall and precision in per cent, by whether the programs have tables.

They only rise. A set that whocall does not know yet has none; one that it knows has at least these.
"""

from __future__ import annotations

ASKED = {True: (99.0, 99.0), False: (98.0, 98.0)}
FLOORS: dict[tuple[str, bool], tuple[float, float]] = {}
"""Of sets that are above what is asked, or, while they are being written, still below it."""

REPAIRED = 98.0
"""Of the true frames those in gdb-multiarch's own backtrace after `whocall repair`."""


def floor(name: str, tables: bool) -> tuple[float, float]:
    """Recall and precision."""
    return FLOORS.get((name, tables), ASKED[tables])
