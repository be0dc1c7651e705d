"""How slow processors are that others use, too: bounds on processor time are of one at rest."""

from __future__ import annotations

import time

REST = 0.08
"""Seconds of processor time that the work below takes on one of 3 GHz that does nothing else."""
ROUNDS = 1_000_000


def slowness() -> float:
    """How many times as long the same work takes here and now; at least 1.

    Two threads of one core share what it computes with, so that each takes up to twice its time.
    """
    begin = time.process_time()
    total = 0
    for number in range(ROUNDS):
        total += number * number
    return max(1.0, (time.process_time() - begin) / REST)
