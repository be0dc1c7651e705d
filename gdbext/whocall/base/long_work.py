"""What a command is about when it takes long, for people who wait.

Who they are and what they see is the front ends' business. Native code tells by base/long_work.h;
Python code calls working() in its loops. Nobody hears of it before a command has taken PATIENCE
seconds.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO, Optional

    Tell = Callable[[str, Optional[float]], None]
    """What is done now, and what share of the whole is done, 0 to 1, where that is known."""

PATIENCE = 1.0  # seconds
INTERVAL = 0.1  # seconds from one look to the next
_NATIVE = "whocall._native"

_tell: Tell | None = None
_due = 0.0
_stage: tuple[str, float | None] = ("", None)


def tell_long_work(tell: Tell | None) -> None:
    """From now on, the start of a command, `tell` hears some times a second of what takes long."""
    global _tell, _due, _stage
    _tell = tell
    _due = monotonic() + PATIENCE
    _stage = ("", None)
    if _NATIVE in sys.modules:
        begin_telling()


def begin_telling() -> None:
    """The native module is loaded."""
    patience = max(_due - monotonic(), 0.0)
    interval = min(INTERVAL, PATIENCE)
    sys.modules[_NATIVE].tell_of_long_work(None if _tell is None else _told, patience, interval)


def _told(what: str, share: float | None) -> None:
    """Within a stage the share is that of the whole."""
    if _tell is not None:
        _tell(what, share if _stage[1] is None else _stage[1])


def working(what: str, share: float | None = None) -> None:
    """To be called every few milliseconds: `Unpacking FILE`, and the share that is done."""
    global _due
    if _tell is None:
        return
    now = monotonic()
    if now >= _due:
        _due = now + min(INTERVAL, PATIENCE)
        _told(what, share)


def share_of(file: BinaryIO) -> float | None:
    """How much of a file was read, 0 to 1; None where it has no size, as a pipe."""
    try:
        size = os.fstat(file.fileno()).st_size
        return min(file.tell() / size, 1.0) if size else None
    except (OSError, ValueError):
        return None


def stage(what: str, share: float | None = None) -> None:
    """A part of the whole begins, before which `share` is done, where that is known; what it does
    itself may have other words.
    """
    global _stage
    _stage = what, share
    working(what, share)


def still_working() -> None:
    """To be called while others work at the stage."""
    working(*_stage)


def left_out() -> list[str]:
    """Sentences on what was left out since the last call, as it would have cost too much."""
    if _NATIVE not in sys.modules:
        return []
    told: list[str] = sys.modules[_NATIVE].take_exhausted_budgets()
    return told


class Lines:
    """Tells each piece of work in a line, once, and none sooner than PATIENCE after the last."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._said: set[str] = set()
        self._due = 0.0

    def __call__(self, what: str, share: float | None) -> None:
        now = monotonic()
        if now >= self._due and what not in self._said:
            self._said.add(what)
            self._due = now + PATIENCE
            self._write(f"{what}...")
