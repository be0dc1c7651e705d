"""How much of a crash goes into a report: what is beyond is counted, and the report says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Chosen so that 10,000 threads or 100,000 frames make a file of less than 20 MB."""

    frames: int = 300_000  # of all stacks that differ, together
    innermost: int = 192  # frames of the crashed thread with registers and words
    outermost: int = 48  # the same, from the other end
    others: int = 40  # further stacks of which that is told
    others_frames: int = 24  # innermost frames of each of those
    words: int = 30_000  # of stacks, in all
    words_of_frame: int = 160
    listings: int = 2_500  # places with the instructions around them
    asked_of_gdb: int = 20_000  # frames; gdb takes seconds and gigabytes for 100,000
    compared: int = 2_000  # rows beside gdb's own backtrace


class Budget:
    """What is left of a limit, and how much was asked for beyond it."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.refused = 0

    def take(self, count: int = 1) -> bool:
        """Whether there is room for so many; if not, they are counted as refused."""
        if count > self.left:
            self.refused += count
            return False
        self.left -= count
        return True
